-- A stretch of a shard's namespaces that have items, in order.
-- KEYS namespaces of the shard
-- ARGV bounds of ZRANGEBYLEX, the most namespaces
-- Returns {1} while there are expired items to take out first, in further calls, or {0, namespace …}
if sweep(1000) == 1000 then return {1} end
local reply = redis.call('ZRANGEBYLEX', namespaces, ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])
table.insert(reply, 1, 0)
return reply
