-- Takes a share of each of a run's keys for one activation, or puts it in line for the first that has none left.
-- KEYS base of the indexes
-- ARGV run id, member (tenant/thread/run), seq, delivery, class, then of each key: key, group, limit
-- A call that is made again changes nothing. A run keeps its shares from one activation to the next until they are
-- taken from it (apply.lua). What a call says of a key's limit holds from then on.
-- Returns {'taken' | 'waits', key that it waits for or '', activation that was let in, ...}
local base, id, member, seq, delivery, granted = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), {}
local wanted, keys = {}, {}
for i = 6, #ARGV, 3 do
  keys[#keys + 1] = ARGV[i]
  wanted[#keys] = {ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])}
  redis.call('HSET', share_of(base, ARGV[i]), 'limit', ARGV[i + 2])
end
let_in(base, keys, granted)

local json = redis.call('HGET', base .. 'shares', id)
local record = json and cjson.decode(json)
if record and record.w and record.q < seq then
  drop_share(base, id, record, granted)
  record = nil
end
if record and record.w then keep_in_line(base, id, record) end
if not record then
  record = {m = member, q = seq, c = tonumber(ARGV[5]), k = wanted}
  local place = share_or_place(base, id, record)
  if place then wait_for(base, id, record, place) end
end
if seq > record.q then record.q, record.d = seq, nil end
if seq == record.q then record.d = math.max(record.d or 0, delivery) end
store_share(base, id, record)
redis.call('ZADD', base .. 'shares:seen', string.format('%.0f', now_ms()), id)
if not record.w then return {'taken', '', unpack(granted)} end
-- Nobody need look for it on the queue: it is not there until it is let in.
redis.call('ZREM', base .. 'due', member)
return {'waits', record.k[record.w][1], unpack(granted)}
