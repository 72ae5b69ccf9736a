-- Notes that the worker of an activation works on nothing else: its death is that run's doing from here on.
-- KEYS base of the thread's keys
-- ARGV run id, seq, epoch, worker
-- Returns {'noted'} | {'lost'}
local keys = keys_of(KEYS[1], ARGV[1])
if redis.call('HGET', keys.run, 'seq') ~= ARGV[2] or not holds(keys.thread, ARGV[3], ARGV[4]) then return {'lost'} end
redis.call('HSET', keys.run, 'alone', ARGV[2])
return {'noted'}
