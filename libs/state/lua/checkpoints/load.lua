-- Reads one checkpoint: the records from which its state is built, its writes, and what the reader does not know yet.
-- KEYS meta, bodies, refs, log
-- ARGV field of `meta` with the head, checkpoint id ('' for the head), bytes of refs that the reader knows,
--      number of the first body that the reader has or will get ('' for what a window from the end begins with),
--      length of that window, seconds that an idle thread lives from its last use on (0 changes nothing)
-- Returns {} if there is no thread, else {token, generation, bodies in all, records in the log, refs,
--   checkpoint id ('' if there is none such), {position, id, record, …} oldest first, {record of writes, …} oldest
--   first,
--   number of the first of the older bodies, {older body, …}, 1 if writes may stand before their checkpoint, 1 if the
--   thread's life begins anew}
local meta, bodies, refs, log = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id = ARGV[2]

local m = redis.call('HMGET', meta, 't', 'g', ARGV[1], 'q')
if not m[1] then return {} end
-- Whoever loads a state goes on from it: all that it refers to lives as long. Not at every load: a tenth early is enough.
local seconds = tonumber(ARGV[6])
local left = seconds > 0 and redis.call('TTL', meta) or -1
local is_refreshed = left >= 0 and left <= seconds * 0.9
if is_refreshed then
  local base = string.sub(meta, 1, -4)
  local parts = {base .. ':thread', base .. ':effects', meta, bodies, refs}
  for _, field in ipairs(redis.call('HKEYS', meta)) do
    if string.sub(field, 1, 2) == 'h:' then parts[#parts + 1] = meta .. ':l:' .. string.sub(field, 3) end
  end
  for _, key in ipairs(parts) do redis.call('EXPIRE', key, seconds) end
end
local count = redis.call('LLEN', bodies)
local length = redis.call('LLEN', log) / 2
local reply = {m[1], m[2], count, length, redis.call('GETRANGE', refs, ARGV[3], -1), '', {}, {}, 0, {}, m[4] and 1 or 0,
  is_refreshed and 1 or 0}

local head = tonumber(m[3])
if not head then return reply end
if id == '' then id = redis.call('LINDEX', log, 2 * head) end

local positions = {}
for _, found in ipairs(redis.call('LPOS', log, id, 'COUNT', 0)) do
  if found % 2 == 0 then positions[#positions + 1] = found / 2 end
end
if #positions == 0 then return reply end
reply[6] = id

local lowest = count
local function lower(lo)
  if lo ~= '' and tonumber(lo) < lowest then lowest = tonumber(lo) end
end

local at = positions[#positions]
local rows = {}
repeat
  local record = redis.call('LINDEX', log, 2 * at + 1)
  local base, lo = string.match(record, '^P(%d*);(%d*);')
  if #rows == 0 then lower(lo) end
  rows[#rows + 1] = {at, record}
  at = tonumber(base)
until not at
for i = #rows, 1, -1 do
  table.insert(reply[7], rows[i][1])
  table.insert(reply[7], redis.call('LINDEX', log, 2 * rows[i][1]))
  table.insert(reply[7], rows[i][2])
end

local found = {}
local function collect(key, from)
  local span = 2 * length - from
  for _, place in ipairs(redis.call('LPOS', log, key, 'RANK', -1, 'COUNT', 0, 'MAXLEN', span)) do
    if place % 2 == 0 then found[#found + 1] = place end
  end
end
for _, position in ipairs(positions) do collect('@' .. string.format('%d', position), 2 * position) end
if m[4] then collect('?' .. id, 0) end
table.sort(found)
for _, place in ipairs(found) do
  local record = redis.call('LINDEX', log, place + 1)
  lower(string.match(record, '^W(%d*);'))
  table.insert(reply[8], record)
end

local first = tonumber(ARGV[4]) or math.max(0, count - ARGV[5])
if lowest < first then
  reply[9] = lowest
  reply[10] = redis.call('LRANGE', bodies, lowest, first - 1)
end
return reply
