-- Puts a whole image of a thread's checkpoints in place of what is there.
-- KEYS meta, bodies, refs, thread record, then the log of each namespace of the image
-- ARGV epoch ('' for no fence), worker, token that must be there ('' for none), new token, new generation,
--      retention in seconds (0 for none), refs, 1 if writes may stand before their checkpoint,
--      number of bodies, the bodies, then for each log: field of `meta`, position of the head ('' for none),
--      number of elements, the elements
-- Returns {'OK'} | {'STALE'} | {'LOST'}
local meta, bodies, refs = KEYS[1], KEYS[2], KEYS[3]
-- Changes nothing; refused by a Redis that has no memory left, before anything is removed.
redis.call('SETRANGE', meta .. '~', 0, '')
if ARGV[1] ~= '' then
  local lease = redis.call('HMGET', KEYS[4], 'epoch', 'holder')
  if lease[1] ~= ARGV[1] or lease[2] ~= ARGV[2] then return {'LOST'} end
end
local token = redis.call('HGET', meta, 't') or ''
if token == ARGV[4] then return {'OK'} end
if token ~= ARGV[3] then return {'STALE'} end

for _, field in ipairs(redis.call('HKEYS', meta)) do
  if string.sub(field, 1, 2) == 'h:' then redis.call('DEL', meta .. ':l:' .. string.sub(field, 3)) end
end
redis.call('DEL', meta, bodies, refs)

local at = 9
local function push(key)
  local count = tonumber(ARGV[at])
  at = at + 1
  while count > 0 do
    local n = math.min(count, 1000)
    redis.call('RPUSH', key, unpack(ARGV, at, at + n - 1))
    at, count = at + n, count - n
  end
end

redis.call('HSET', meta, 't', ARGV[4], 'g', ARGV[5])
if ARGV[8] == '1' then redis.call('HSET', meta, 'q', '1') end
if ARGV[7] ~= '' then redis.call('SET', refs, ARGV[7]) end
push(bodies)
for i = 5, #KEYS do
  redis.call('HSET', meta, ARGV[at], ARGV[at + 1])
  at = at + 2
  push(KEYS[i])
end

local seconds = tonumber(ARGV[6])
if seconds > 0 and redis.call('HEXISTS', KEYS[4], 'current') == 0 then
  local expires = redis.call('TIME')[1] + seconds
  for i, key in ipairs(KEYS) do
    if i ~= 4 then redis.call('EXPIREAT', key, expires) end
  end
end
return {'OK'}
