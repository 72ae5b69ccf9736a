-- Says that a batch has all its runs.
-- KEYS batch, batches that are open
-- Returns 1, or 0 where there is no such batch
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'sealed', 1)
local b = redis.call('HMGET', KEYS[1], 'total', 'n:success', 'n:error', 'n:timeout', 'n:cancelled')
local ended = tonumber(b[2] or '0') + tonumber(b[3] or '0') + tonumber(b[4] or '0') + tonumber(b[5] or '0')
if ended == tonumber(b[1] or '0') then
  redis.call('HSETNX', KEYS[1], 'finishedAt', string.format('%.0f', now_ms()))
  redis.call('ZREM', KEYS[2], KEYS[1])
end
redis.call('PUBLISH', KEYS[1], 'sealed')
return 1
