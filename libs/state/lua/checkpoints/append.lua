-- Writes what one flush of a saver holds, or nothing.
-- The writer knows the thread as it was when `previous token` was set; if somebody wrote in between it is STALE
-- and nothing is written. A flush that was sent twice (a lost reply) finds its own token and changes nothing.
--
-- KEYS meta, bodies, refs, thread record, then the log of each namespace that is written
-- ARGV epoch ('' for no fence), worker, previous token ('' if the thread must not exist), new token, generation,
--      retention in seconds (0 for none), number of bodies, bytes to append to refs,
--      the bodies, then for each log the field of `meta` that holds its head,
--      then triples: number of the log (from 1), key, record
-- A key is a checkpoint id before a checkpoint's record (`P…`); before writes (`W…`) it is `@` and the position of
-- their checkpoint, or `#` and its id where the writer does not know the position.
-- Returns {'OK'} | {'STALE'} | {'LOST'}
local meta, bodies, refs, thread = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

-- The record of the run that writes. What its first write found is noted there, so that all can be taken back
-- (prelude.lua, roll_back).
local run
if ARGV[1] ~= '' then
  local lease = redis.call('HMGET', thread, 'epoch', 'holder', 'current')
  if lease[1] ~= ARGV[1] or lease[2] ~= ARGV[2] then return {'LOST'} end
  if lease[3] then run = string.sub(thread, 1, -8) .. ':run:' .. lease[3] end
end
local token = redis.call('HGET', meta, 't') or ''
if token == ARGV[4] then return {'OK'} end
if token ~= ARGV[3] then return {'STALE'} end

if run and redis.call('HEXISTS', run, 'u:') == 0 then
  local generation = token ~= '' and redis.call('HGET', meta, 'g') or ''
  redis.call('HSET', run, 'u:', redis.call('LLEN', bodies) .. ':' .. redis.call('STRLEN', refs) .. ':' .. generation)
end
if token == '' then redis.call('HSET', meta, 'g', ARGV[5]) end
redis.call('HSET', meta, 't', ARGV[4])

local at = 9
local count = tonumber(ARGV[7])
while count > 0 do
  local n = math.min(count, 1000)
  redis.call('RPUSH', bodies, unpack(ARGV, at, at + n - 1))
  at, count = at + n, count - n
end
if ARGV[8] ~= '' then redis.call('APPEND', refs, ARGV[8]) end

local heads = {}
for i = 5, #KEYS do
  heads[i - 4] = ARGV[at]
  if run and redis.call('HEXISTS', run, 'u:' .. ARGV[at]) == 0 then
    local head = redis.call('HGET', meta, ARGV[at]) or ''
    redis.call('HSET', run, 'u:' .. ARGV[at], redis.call('LLEN', KEYS[i]) .. ':' .. head)
  end
  redis.call('HSETNX', meta, ARGV[at], '')
  at = at + 1
end

local function position_of(log, id)
  for _, found in ipairs(redis.call('LPOS', log, id, 'RANK', -1, 'COUNT', 0)) do
    if found % 2 == 0 then return found / 2 end
  end
end

while at < #ARGV do
  local number, key, record = tonumber(ARGV[at]), ARGV[at + 1], ARGV[at + 2]
  local log = KEYS[number + 4]
  if string.byte(record) == 80 then
    redis.call('HSET', meta, heads[number], string.format('%d', redis.call('LLEN', log) / 2))
  elseif string.byte(key) == 35 then
    local id = string.sub(key, 2)
    local found = position_of(log, id)
    if found then
      key = '@' .. string.format('%d', found)
    else
      key = '?' .. id
      redis.call('HSET', meta, 'q', '1')
    end
  end
  redis.call('RPUSH', log, key, record)
  at = at + 3
end

-- Nothing of a thread whose run is not over expires; its end gives all of it one time.
local seconds = tonumber(ARGV[6])
if seconds > 0 and redis.call('HEXISTS', thread, 'current') == 0 then
  local expires = redis.call('TIME')[1] + seconds
  for _, key in ipairs({meta, bodies, refs}) do redis.call('EXPIREAT', key, expires) end
  for _, field in ipairs(redis.call('HKEYS', meta)) do
    if string.sub(field, 1, 2) == 'h:' then redis.call('EXPIREAT', meta .. ':l:' .. string.sub(field, 3), expires) end
  end
end
return {'OK'}
