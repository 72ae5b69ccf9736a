-- The activations that have a share or wait for one and that nobody has looked at for a while.
-- KEYS base of the indexes
-- ARGV milliseconds that one is left alone, most of them
-- Returns {number of those that follow, activation, '1' if it waits, ..., activation that was let in, ...}
local base, now, granted, reply, n = KEYS[1], now_ms(), {}, {}, 0
local seen = base .. 'shares:seen'
for _, id in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', now - tonumber(ARGV[1]), 'LIMIT', 0, ARGV[2])) do
  local json = redis.call('HGET', base .. 'shares', id)
  if json then
    redis.call('ZADD', seen, string.format('%.0f', now), id)
    local record = cjson.decode(json)
    n = n + 1
    reply[#reply + 1] = record.m .. '/' .. record.q
    reply[#reply + 1] = record.w and '1' or ''
    if record.w then
      keep_in_line(base, id, record)
      let_in(base, {record.k[record.w][1]}, granted)
    end
  else
    redis.call('ZREM', seen, id)
  end
end
table.insert(reply, 1, n)
for _, activation in ipairs(granted) do reply[#reply + 1] = activation end
return reply
