-- Stands before the other scripts of this folder. KEYS[1] is a shard's sorted set of namespaces, `<base>:n`; the
-- shard's other keys, all in its slot, are named here:
--   <base>:k:<namespace>        sorted set key → place (microseconds at which the item was made, always growing)
--   <base>:i:<namespace> <key>  string: made and changed (13 digits each, ms), life in ms (0: for ever), `:`, value
--   <base>:x                    sorted set `<namespace> <key>` → ms at which the item expires
-- A namespace is encoded and holds no space. Redis itself ends an item's life, by the ms that stands in `x` too;
-- the names that it leaves in the other keys are taken out by `sweep` and by who finds them.
local namespaces = KEYS[1]
local base = string.sub(namespaces, 1, -3)
local expiries = base .. ':x'

local function now_us()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end

local now = math.floor(now_us() / 1000)

local function whole(number)
  return string.format('%.0f', number)
end

local function keys_of(ns)
  return base .. ':k:' .. ns
end

local function item_of(ns, key)
  return base .. ':i:' .. ns .. ' ' .. key
end

local function forget(ns, key)
  redis.call('DEL', item_of(ns, key))
  redis.call('ZREM', expiries, ns .. ' ' .. key)
  redis.call('ZREM', keys_of(ns), key)
  if redis.call('EXISTS', keys_of(ns)) == 0 then redis.call('ZREM', namespaces, ns) end
end

-- Takes out the names of at most `max` expired items. Returns how many there were.
local function sweep(max)
  local due = redis.call('ZRANGEBYSCORE', expiries, '-inf', whole(now), 'LIMIT', 0, max)
  for _, member in ipairs(due) do
    local space = string.find(member, ' ', 1, true)
    forget(string.sub(member, 1, space - 1), string.sub(member, space + 1))
  end
  return #due
end
