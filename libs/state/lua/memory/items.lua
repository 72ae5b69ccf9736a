-- Reads and writes items of one shard, all at once, in the order given.
-- KEYS namespaces of the shard
-- ARGV for each call a letter, namespace, key, and for `p` also life in ms (0: for ever) and value
--   g get · r get and start the item's life anew · t start its life anew · p put · d delete
-- Returns for each call the record or nil

local function live_anew(ns, key, head)
  local life = tonumber(string.match(head, '^(%d+):'))
  if not life or life == 0 then return end
  local ends = whole(now + life)
  redis.call('PEXPIREAT', item_of(ns, key), ends)
  redis.call('ZADD', expiries, ends, ns .. ' ' .. key)
end

-- An item that is new, or came back, goes to the end of its namespace.
local function place_last(ns, key)
  local last = redis.call('ZREVRANGE', keys_of(ns), 0, 0, 'WITHSCORES')
  local place = math.max(now_us(), (tonumber(last[2]) or 0) + 1)
  redis.call('ZADD', keys_of(ns), whole(place), key)
  redis.call('ZADD', namespaces, 0, ns)
end

local function put(ns, key, life, value)
  local item = item_of(ns, key)
  local made = redis.call('GETRANGE', item, 0, 12)
  local is_new = made == ''
  if is_new then made = whole(now) end
  local changed = whole(math.max(now, tonumber(made)))
  local record = made .. changed .. life .. ':' .. value
  if life == '0' then
    redis.call('SET', item, record)
    redis.call('ZREM', expiries, ns .. ' ' .. key)
  else
    local ends = whole(now + life)
    redis.call('SET', item, record, 'PXAT', ends)
    redis.call('ZADD', expiries, ends, ns .. ' ' .. key)
  end
  if is_new then place_last(ns, key) end
end

local replies = {}
local writes = false
local at = 1
while at <= #ARGV do
  local call, ns, key = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local reply = false
  at = at + 3
  if call == 'g' or call == 'r' then
    reply = redis.call('GET', item_of(ns, key))
    if reply and call == 'r' then live_anew(ns, key, string.sub(reply, 27, 42)) end
  elseif call == 't' then
    live_anew(ns, key, redis.call('GETRANGE', item_of(ns, key), 26, 41))
  elseif call == 'd' then
    forget(ns, key)
  else
    put(ns, key, ARGV[at], ARGV[at + 1])
    at = at + 2
    writes = true
  end
  replies[#replies + 1] = reply
end
if writes then sweep(20) end
return replies
