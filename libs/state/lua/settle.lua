-- Commits what an activation came to, releases the lease and passes the thread on. Keyed by (run, seq): a second
-- call changes nothing. Refused unless the caller still holds the lease.
-- KEYS base of the thread's keys
-- ARGV run id, seq, epoch, worker, retention, usage (eight numbers), what, then by what:
--   'final'       status, endedBy, error (JSON or ''), output (bytes or '')
--   'interrupted' checkpoint id, then of each approval: id, title, JSON, milliseconds until it expires or ''
--   'again'       kind of the next activation, delay ms, error (JSON or ''), 1 if it spends an attempt
-- Returns {'settled', transition} | {'already', transition that may not be published yet, if there is one} | {'lost'}
local run_id, seq, what = ARGV[1], ARGV[2], ARGV[7]
local keys = keys_of(KEYS[1], run_id)
local retention = retention_of(ARGV[5])

local f = redis.call('HMGET', keys.run, 'settled', 'cancel', 'attempt', 'seq', 'rollback')
if f[1] and tonumber(f[1]) >= tonumber(seq) then
  -- Perhaps by this very call, whose reply was lost.
  return {'already', redis.call('HGET', keys.outbox, run_id .. ':' .. (redis.call('HGET', keys.run, 'version') or '')) or nil}
end
if f[4] ~= seq or not holds(keys.thread, ARGV[3], ARGV[4]) then return {'lost'} end

local now = now_ms()
redis.call('HSET', keys.run, 'settled', seq)
local i = 0
for n in string.gmatch(ARGV[6], '%d+') do
  i = i + 1
  if n ~= '0' then redis.call('HINCRBY', keys.run, USAGE[i], n) end
end

-- What is taken back is cancelled, whatever it came to.
if f[2] and (what ~= 'final' or f[5]) then
  return {'settled', finish(keys, run_id, now, {status = 'cancelled', endedBy = 'cancelled', error = f[2]}, retention)}
end
if what == 'final' then
  if ARGV[11] ~= '' then redis.call('HSET', keys.run, 'output', ARGV[11]) end
  return {'settled', finish(keys, run_id, now, {status = ARGV[8], endedBy = ARGV[9], error = ARGV[10]}, retention)}
end

redis.call('HDEL', keys.thread, 'holder')
redis.call('HDEL', keys.run, 'worker')
local event = {type = 'status', attempt = tonumber(f[3]), seq = tonumber(seq)}

if what == 'interrupted' then
  local raised, ids = {}, {}
  for a = 9, #ARGV, 4 do
    local expires = ARGV[a + 3] ~= '' and now + tonumber(ARGV[a + 3]) or nil
    raised[#raised + 1] = {approvalId = ARGV[a], title = ARGV[a + 1], expiresAt = expires}
    ids[#ids + 1] = ARGV[a]
    redis.call('HSETNX', keys.run, 'approval:' .. ARGV[a], ARGV[a + 2])
    redis.call('HSETNX', keys.run, 'asked:' .. ARGV[a], string.format('%.0f', now))
    if expires then redis.call('HSET', keys.run, 'expires:' .. ARGV[a], string.format('%.0f', expires)) end
  end
  local all = redis.call('HGET', keys.run, 'approvals')
  for _, id in ipairs(ids) do
    if not all then all = id elseif not contains(all, id) then all = all .. ',' .. id end
  end
  redis.call('HSET', keys.run, 'status', 'interrupted', 'endedBy', 'interrupt', 'approvals', all,
    'waiting', table.concat(ids, ','), 'resumeCheckpoint', ARGV[8])
  redis.call('HDEL', keys.run, 'resume')
  event.status = 'interrupted'
  event.endedBy = 'interrupt'
  tell(keys.events, cjson.encode(event), retention.events_length)
  return {'settled', emit(keys.outbox, keys.run, run_id, now, {raised = raised, endedBy = 'interrupt'})}
end

redis.call('HSET', keys.run, 'status', 'pending', 'kind', ARGV[8], 'delivery', 1, 'delayUntil', now + tonumber(ARGV[9]))
redis.call('HINCRBY', keys.run, 'seq', 1)
if ARGV[10] ~= '' then redis.call('HSET', keys.run, 'lastError', ARGV[10]) end
if ARGV[11] == '1' then redis.call('HINCRBY', keys.run, 'attempt', 1) end
event.status = 'pending'
tell(keys.events, cjson.encode(event), retention.events_length)
return {'settled', emit(keys.outbox, keys.run, run_id, now, {dispatch = dispatch_of(keys.run, run_id, tonumber(ARGV[9]))})}
