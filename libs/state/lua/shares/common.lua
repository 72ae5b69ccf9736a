-- Limits of concurrent runs: who has a share of a key and who waits for one. Stands before the scripts that need it.
-- <base> is the beginning of the indexes' keys; all share one slot.
--   <base>shares              hash run id → its record: {m member, q seq, d delivery for which it was taken, c class, k {{key, group, limit}, ...}, w place
--                             in k of the key that it waits for; nil where it has a share of each}
--   <base>shares:seen         sorted set run id → when a sweeper looked at it last
--   <base>share:<key>         hash: limit, v:<class> tag that was let in last, g:<class>:<group> the group's last tag
--   <base>share:<key>:held    set of ids of runs that have a share
--   <base>share:<key>:waiting sorted set run id → class and tag
-- Who waits stands in one class (runs that had begun before, then by priority), in turns between the groups of it:
-- each run gets the tag after its group's last one, and after the one that was let in last.
local CLASS = 4294967296
-- Moves of waiting runs in one call: the rest is the next one's, or the sweeper's.
local MOST_MOVES = 200

local function share_of(base, key) return base .. 'share:' .. key end

local function wait_for(base, id, record, place)
  local key, group = record.k[place][1], record.k[place][2]
  local name, mine = share_of(base, key), 'g:' .. record.c .. ':' .. group
  local f = redis.call('HMGET', name, 'v:' .. record.c, mine)
  local tag = math.max(tonumber(f[1] or '0'), tonumber(f[2] or '0')) + 1
  redis.call('HSET', name, mine, tag)
  redis.call('ZADD', name .. ':waiting', string.format('%.0f', record.c * CLASS + tag), id)
  record.w = place
end

-- Whoever lost the place that its record tells of is put in line again.
local function keep_in_line(base, id, record)
  if redis.call('ZSCORE', share_of(base, record.k[record.w][1]) .. ':waiting', id) then return end
  redis.call('HSETNX', share_of(base, record.k[record.w][1]), 'limit', record.k[record.w][3])
  wait_for(base, id, record, record.w)
end

local function is_free(base, key)
  local name = share_of(base, key)
  return redis.call('SCARD', name .. ':held') < tonumber(redis.call('HGET', name, 'limit') or '0')
end

-- Gives the run a share of each of its keys, or says at which place the first is that has none left.
local function share_or_place(base, id, record)
  for place, k in ipairs(record.k) do
    -- A key that nobody had was forgotten, and its limit with it.
    redis.call('HSETNX', share_of(base, k[1]), 'limit', k[3])
    if not is_free(base, k[1]) then return place end
  end
  for _, k in ipairs(record.k) do redis.call('SADD', share_of(base, k[1]) .. ':held', id) end
  record.w = nil
  return nil
end

local function store_share(base, id, record)
  redis.call('HSET', base .. 'shares', id, cjson.encode(record))
end

-- Lets in who waits, as far as there are shares. Adds to `granted` the activations that now have theirs.
local function let_in(base, keys, granted)
  local moves = 0
  for _, key in ipairs(keys) do
    local name = share_of(base, key)
    while moves < MOST_MOVES and is_free(base, key) do
      local first = redis.call('ZPOPMIN', name .. ':waiting')
      if not first[1] then break end
      moves = moves + 1
      local json = redis.call('HGET', base .. 'shares', first[1])
      if json then
        local record = cjson.decode(json)
        redis.call('HSET', name, 'v:' .. record.c, string.format('%.0f', tonumber(first[2]) % CLASS))
        local place = share_or_place(base, first[1], record)
        if place then
          wait_for(base, first[1], record, place)
        else
          granted[#granted + 1] = record.m .. '/' .. record.q
        end
        store_share(base, first[1], record)
      end
    end
    if redis.call('SCARD', name .. ':held') == 0 and redis.call('ZCARD', name .. ':waiting') == 0 then
      redis.call('DEL', name)
    end
  end
end

-- Takes a run's shares, or its place among those who wait, away from it.
local function drop_share(base, id, record, granted)
  redis.call('HDEL', base .. 'shares', id)
  redis.call('ZREM', base .. 'shares:seen', id)
  local keys = {}
  for place, k in ipairs(record.k) do
    local name = share_of(base, k[1])
    redis.call('SREM', name .. ':held', id)
    if record.w == place then redis.call('ZREM', name .. ':waiting', id) end
    keys[place] = k[1]
  end
  let_in(base, keys, granted)
end
