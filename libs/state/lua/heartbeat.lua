-- Says that a worker lives. A worker that was declared gone meanwhile is told, and starts anew.
-- KEYS workers, worker, cancels of the worker, pauses, agents
-- ARGV worker, milliseconds that this holds, description (JSON), 1 to register, agents (name, version, ...)
-- Returns {'alive' | 'gone', number of cancels, cancel..., pause...}
local now = now_ms()
local known = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not known and ARGV[4] ~= '1' then return {'gone', 0} end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
redis.call('HSET', KEYS[2], 'description', ARGV[3], 'seenAt', now)
for i = 5, #ARGV, 2 do redis.call('HSET', KEYS[5], ARGV[i], ARGV[i + 1]) end
local reply = redis.call('SMEMBERS', KEYS[3])
table.insert(reply, 1, #reply)
table.insert(reply, 1, 'alive')
for _, scope in ipairs(redis.call('HKEYS', KEYS[4])) do reply[#reply + 1] = scope end
return reply
