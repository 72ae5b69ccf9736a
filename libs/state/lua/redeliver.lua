-- Makes a new delivery of an activation whose pointer the queue lost.
-- KEYS base of the thread's keys
-- ARGV run id, seq
-- Returns {'redelivered', transition} | {'none'}
local run_id = ARGV[1]
local keys = keys_of(KEYS[1], run_id)
local f = redis.call('HMGET', keys.run, 'status', 'seq')
if f[1] ~= 'pending' or f[2] ~= ARGV[2] or redis.call('HGET', keys.thread, 'current') ~= run_id then return {'none'} end
local now = now_ms()
redis.call('HINCRBY', keys.run, 'delivery', 1)
local delay = math.max(tonumber(redis.call('HGET', keys.run, 'delayUntil') or '0') - now, 0)
return {'redelivered', emit(keys.outbox, keys.run, run_id, now, {dispatch = dispatch_of(keys.run, run_id, delay)})}
