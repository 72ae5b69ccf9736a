-- Accepts a run: writes its record and puts it into its thread's lane, or makes it the thread's current run.
-- KEYS thread, lane, outbox, run, events
-- ARGV run id, hash of the request, strategy, input (bytes), request (JSON), agent, batch or '', priority,
--      delay ms, deadline ms or '', max attempts
-- Returns {'admitted', transition, current run or ''} | {'exists', unpublished transition...} | {'conflict'} | {'busy', current}
local run_id, hash, strategy = ARGV[1], ARGV[2], ARGV[3]
local keys = run_keys(KEYS, run_id)

local known = redis.call('HGET', keys.run, 'hash')
if known then
  if known ~= hash then return {'conflict'} end
  return {'exists', unpack(redis.call('HVALS', keys.outbox))}
end

local current = redis.call('HGET', keys.thread, 'current')
if current and strategy == 'reject' then return {'busy', current} end

local now = now_ms()
redis.call('HSET', keys.run, 'hash', hash, 'input', ARGV[4], 'request', ARGV[5], 'agent', ARGV[6],
  'priority', ARGV[8], 'maxAttempts', ARGV[11], 'status', 'pending', 'seq', 1, 'kind', 'start', 'delivery', 1,
  'attempt', 1, 'createdAt', now)
if ARGV[7] ~= '' then redis.call('HSET', keys.run, 'batch', ARGV[7]) end
if ARGV[9] ~= '0' then redis.call('HSET', keys.run, 'delayUntil', now + tonumber(ARGV[9])) end
if ARGV[10] ~= '' then redis.call('HSET', keys.run, 'deadlineAt', now + tonumber(ARGV[10])) end

local pointer = nil
if current then
  redis.call('RPUSH', keys.lane, run_id)
else
  redis.call('HSET', keys.thread, 'current', run_id)
  redis.call('PERSIST', keys.thread)
  pointer = dispatch_of(keys.run, run_id, tonumber(ARGV[9]))
end
return {'admitted', emit(keys.outbox, keys.run, run_id, now, {dispatch = pointer}), current or ''}
