-- Tries a run that ended without success once more, from its last checkpoint, at the end of its thread's lane.
-- KEYS base of the thread's keys
-- ARGV run id, states from which a run may become pending again by an operator, id of the message that asks or ''
-- Returns {'reopened', transition} | {'before'}: by the same message | {'refused', status} | {'unknown'}
local run_id = ARGV[1]
local keys = keys_of(KEYS[1], run_id)
local status = redis.call('HGET', keys.run, 'status')
if not status then return {'unknown'} end
if ARGV[3] ~= '' and redis.call('HGET', keys.run, 'reopenedBy') == ARGV[3] then return {'before'} end
if not contains(ARGV[2], status) then return {'refused', status} end
local now = now_ms()
redis.call('HSET', keys.run, 'status', 'pending', 'kind', 'retry', 'delivery', 1, 'crashes', 0)
redis.call('HDEL', keys.run, 'endedBy', 'error', 'finishedAt', 'cancel', 'deadlineAt', 'delayUntil', 'worker', 'rollback')
-- From here on it is another beginning, also for who takes it back.
for _, field in ipairs(redis.call('HKEYS', keys.run)) do
  if string.sub(field, 1, 2) == 'u:' then redis.call('HDEL', keys.run, field) end
end
redis.call('HINCRBY', keys.run, 'seq', 1)
redis.call('HSET', keys.run, 'reopenedBy', ARGV[3])
local attempt = redis.call('HINCRBY', keys.run, 'attempt', 1)
local most = tonumber(redis.call('HGET', keys.run, 'maxAttempts'))
if most < attempt then redis.call('HSET', keys.run, 'maxAttempts', attempt) end
redis.call('PERSIST', keys.run)
redis.call('PERSIST', keys.events)
local pointer = nil
if redis.call('HGET', keys.thread, 'current') then
  redis.call('RPUSH', keys.lane, run_id)
else
  redis.call('HSET', keys.thread, 'current', run_id)
  keep_thread(keys.base)
  pointer = dispatch_of(keys.run, run_id, 0)
end
return {'reopened', emit(keys.outbox, keys.run, run_id, now, {dispatch = pointer})}
