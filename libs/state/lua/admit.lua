-- Accepts a run: writes its record and puts it into its thread's lane, or makes it the thread's current run.
-- Nothing goes into the outbox: the thread is marked, and `republish` finds what a crash leaves.
-- KEYS base of the thread's keys
-- ARGV run id, input (bytes), request (JSON), and as JSON: hash, strategy, agent, batchId, priority, delayMs,
--      deadlineMs, maxAttempts, notify, concurrency (JSON in a text),
--      replaces (the error of the run that it replaces), subjects (fields of the thread's record)
-- Returns {'admitted', transition, current run or ''} | {'exists', transition} | {'conflict'} | {'busy', current}
local run_id, head = ARGV[1], cjson.decode(ARGV[4])
local keys = keys_of(KEYS[1], run_id)

local known = redis.call('HGET', keys.run, 'hash')
if known == head.hash then return {'exists', as_it_stands(keys, run_id, now_ms())} end
if known then return {'conflict'} end

local current = redis.call('HGET', keys.thread, 'current')
if current and head.strategy == 'reject' then return {'busy', current} end
-- Whoever has the current run is told afterwards, by the producer or by a sweeper; how it ends is settled here.
if current and head.replaces then
  redis.call('HSETNX', keys.run_prefix .. current, 'cancel', head.replaces)
  if head.strategy == 'rollback' then redis.call('HSET', keys.run_prefix .. current, 'rollback', '1') end
end

local now = now_ms()
local deadline = head.deadlineMs and now + head.deadlineMs or nil
local record = {'hash', head.hash, 'input', ARGV[2], 'request', ARGV[3], 'agent', head.agent, 'priority', head.priority,
  'maxAttempts', head.maxAttempts, 'status', 'pending', 'seq', 1, 'kind', 'start', 'delivery', 1, 'attempt', 1,
  'version', 1, 'createdAt', now, 'updatedAt', now}
local function also(name, value)
  record[#record + 1] = name
  record[#record + 1] = value
end
if head.batchId then also('batch', head.batchId) end
if head.notify then also('notify', head.notify) end
if head.concurrency then also('concurrency', head.concurrency) end
if head.delayMs > 0 then also('delayUntil', now + head.delayMs) end
if deadline then also('deadlineAt', deadline) end
redis.call('HSET', keys.run, unpack(record))

local change = {runId = run_id, version = 1, seq = 1, notify = head.notify, behind = current or nil, status = 'pending', kind = 'start', agent = head.agent, at = now, createdAt = now,
  batchId = head.batchId, deadlineAt = deadline}
for _, field in ipairs(head.subjects or {}) do redis.call('HSET', keys.thread, field, 1) end
if current then
  redis.call('RPUSH', keys.lane, run_id)
else
  keep_thread(keys.base)
  redis.call('HSET', keys.thread, 'current', run_id)
  change.dispatch = {runId = run_id, seq = 1, delivery = 1, priority = head.priority, delayMs = head.delayMs}
end
return {'admitted', cjson.encode(change), current or ''}
