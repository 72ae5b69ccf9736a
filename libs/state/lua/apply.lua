-- Brings the indexes and the batch up to a transition; one that was seen before, or is older than what the
-- indexes know, changes nothing but the list of pointers that are due.
-- KEYS run, all runs, claims base, batch base, approvals, due, deadlines, expiring, batches
--   all share one slot; a base gets its status, worker or batch id appended
-- ARGV run id, member (tenant/thread/run, encoded), tenant, version, status, final (0 or 1), worker, batch, agent,
--      created at, at, ended by, usage (eight numbers or ''), deadline or '', retention seconds, pointer due (JSON member or ''),
--      number raised, id, ..., closed id, ...
-- Returns 1 if it was news
local run_id, member, tenant, version, status, final = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6] == '1'
local at = ARGV[11]
local known = redis.call('HMGET', KEYS[1], 'v', 's', 'w', 'u')
if ARGV[16] ~= '' then redis.call('ZADD', KEYS[6], at, ARGV[16]) end
if known[1] and tonumber(known[1]) >= version then return 0 end

local before = known[2]
redis.call('HSET', KEYS[1], 'v', version, 's', status, 'm', member)
if not before then redis.call('ZADD', KEYS[2], ARGV[10], run_id) end
if before ~= status then
  if before then redis.call('ZREM', KEYS[2] .. ':' .. before, run_id) end
  redis.call('ZADD', KEYS[2] .. ':' .. status, ARGV[10], run_id)
end
if known[3] then
  redis.call('SREM', KEYS[3] .. known[3], member)
  redis.call('HDEL', KEYS[1], 'w')
end
if ARGV[7] ~= '' then
  redis.call('SADD', KEYS[3] .. ARGV[7], member)
  redis.call('HSET', KEYS[1], 'w', ARGV[7])
end
if status ~= 'pending' then redis.call('ZREM', KEYS[6], member) end
if ARGV[14] ~= '' and not final then
  redis.call('ZADD', KEYS[7], ARGV[14], member)
else
  redis.call('ZREM', KEYS[7], member)
end
if final then
  redis.call('ZADD', KEYS[8], tonumber(at) + tonumber(ARGV[15]) * 1000, run_id)
else
  redis.call('ZREM', KEYS[8], run_id)
end

local raised = tonumber(ARGV[17])
for i = 18, 17 + raised do
  redis.call('ZADD', KEYS[5], at, ARGV[i])
  redis.call('HSET', KEYS[5] .. ':runs', ARGV[i], member)
end
for i = 18 + raised, #ARGV do redis.call('ZREM', KEYS[5], ARGV[i]) end

if ARGV[8] ~= '' then
  local batch = KEYS[4] .. ARGV[8]
  if not before then
    redis.call('HINCRBY', batch, 'total', 1)
    redis.call('ZADD', batch .. ':runs', ARGV[10], run_id)
  else
    redis.call('HINCRBY', batch, 'n:' .. before, -1)
  end
  redis.call('HINCRBY', batch, 'n:' .. status, 1)
  if status == 'running' then redis.call('HSETNX', batch, 'startedAt', at) end
  if ARGV[13] ~= '' then
    local old = {}
    for n in string.gmatch(known[4] or '', '%d+') do old[#old + 1] = tonumber(n) end
    local i = 0
    for n in string.gmatch(ARGV[13], '%d+') do
      i = i + 1
      local delta = tonumber(n) - (old[i] or 0)
      if delta ~= 0 then redis.call('HINCRBY', batch, 'u:' .. i, delta) end
    end
    redis.call('HSET', KEYS[1], 'u', ARGV[13])
  end
  if final or status == 'interrupted' then redis.call('RPUSH', batch .. ':ended', run_id) end
  local b = redis.call('HMGET', batch, 'sealed', 'total', 'n:success', 'n:error', 'n:timeout', 'n:cancelled')
  local ended = tonumber(b[3] or '0') + tonumber(b[4] or '0') + tonumber(b[5] or '0') + tonumber(b[6] or '0')
  if final and b[1] == '1' and ended == tonumber(b[2]) then
    redis.call('HSETNX', batch, 'finishedAt', at)
  elseif not final then
    redis.call('HDEL', batch, 'finishedAt')
  end
  redis.call('PUBLISH', batch, status)
end
return 1
