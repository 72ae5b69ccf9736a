-- Creates a batch, once.
-- KEYS batch, batches of the tenant, batches that are open
-- ARGV batch id, tenant, agent, metadata (JSON), retention seconds, who is told of its runs (JSON) or ''
-- Returns 1 if it was created
if redis.call('HEXISTS', KEYS[1], 'createdAt') == 1 then return 0 end
local now = string.format('%.0f', now_ms())
redis.call('HSET', KEYS[1], 'id', ARGV[1], 'tenant', ARGV[2], 'agent', ARGV[3], 'metadata', ARGV[4], 'createdAt', now)
if ARGV[6] ~= '' then redis.call('HSET', KEYS[1], 'notify', ARGV[6]) end
redis.call('ZADD', KEYS[2], now, ARGV[1])
redis.call('ZADD', KEYS[3], now, KEYS[1])
redis.call('EXPIRE', KEYS[1], ARGV[5])
return 1
