-- Before the shares of a run are taken away that stands still: a worker that has taken them, and not claimed it yet,
-- must take them again.
-- KEYS base of the thread's keys
-- ARGV run id
-- Returns {'withheld', seq, delivery up to which shares may be taken away} | {'none'}: it does not wait
local keys = keys_of(KEYS[1], ARGV[1])
local f = redis.call('HMGET', keys.run, 'status', 'seq')
if f[1] ~= 'pending' then return {'none'} end
return {'withheld', f[2], redis.call('HINCRBY', keys.run, 'delivery', 1) - 1}
