-- A stretch of a shard's items, by namespace and place.
-- KEYS namespaces of the shard
-- ARGV first and last namespace as bounds of ZRANGEBYLEX, place after which to begin in the first namespace (or
--      ''), the most items to look at, how many of the first items come without their record
-- Looks at no more than 1 MiB of records beyond the first. An item whose record is gone (expired, evicted) is
-- taken out of the index instead.
-- Returns {namespace, place} of the last item looked at, both '' at the end, then namespace, key, record or '' …
local MAX_BYTES = 1048576
local count, bare = tonumber(ARGV[4]), tonumber(ARGV[5])
local after = ARGV[3] == '' and '-inf' or '(' .. ARGV[3]
local reply = {'', ''}
local looked, bytes = 0, 0

sweep(100)

local function record_of(ns, key)
  if bare > 0 and redis.call('EXISTS', item_of(ns, key)) == 1 then
    bare = bare - 1
    return ''
  end
  return redis.call('GET', item_of(ns, key))
end

-- Returns whether the namespace was looked at to its end.
local function look(ns)
  local found = redis.call('ZRANGEBYSCORE', keys_of(ns), after, '+inf', 'WITHSCORES', 'LIMIT', 0, count - looked)
  for i = 1, #found, 2 do
    local record = record_of(ns, found[i])
    looked = looked + 1
    if record then
      bytes = bytes + #record
      reply[#reply + 1] = ns
      reply[#reply + 1] = found[i]
      reply[#reply + 1] = record
    else
      forget(ns, found[i])
    end
    if looked >= count or bytes > MAX_BYTES then
      reply[1], reply[2] = ns, found[i + 1]
      return false
    end
  end
  return true
end

for _, ns in ipairs(redis.call('ZRANGEBYLEX', namespaces, ARGV[1], ARGV[2], 'LIMIT', 0, count + 1)) do
  if not look(ns) then break end
  after = '-inf'
end
return reply
