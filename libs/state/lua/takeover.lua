-- Takes a run away from a worker that is gone: the lease's epoch goes up, so that nothing the old worker still
-- writes arrives, and the run gets its next activation. A run of which several workers died is set aside, if it was the
-- only one that the last of them worked on: of any other nobody knows whether it was at fault.
-- KEYS base of the thread's keys
-- ARGV run id, worker that is gone, most crashes, error for a run set aside (JSON), retention, 1 if the worker died
-- Returns {'taken' | 'aside' | 'none', unpublished transition...}
local run_id, gone = ARGV[1], ARGV[2]
local keys = keys_of(KEYS[1], run_id)
local f = redis.call('HMGET', keys.run, 'status', 'worker', 'cancel', 'seq', 'alone')
local done = 'none'
if f[1] == 'running' and f[2] == gone then
  local now = now_ms()
  local epoch = math.max(tonumber(redis.call('HGET', keys.thread, 'epoch') or '0') + 1, now)
  redis.call('HSET', keys.thread, 'epoch', string.format('%.0f', epoch))
  redis.call('HDEL', keys.thread, 'holder')
  redis.call('HDEL', keys.run, 'worker')
  local crashes = redis.call('HINCRBY', keys.run, 'crashes', ARGV[6])
  if f[3] then
    finish(keys, run_id, now, {status = 'cancelled', endedBy = 'cancelled', error = f[3]}, retention_of(ARGV[5]))
    done = 'taken'
  elseif ARGV[6] == '1' and f[5] == f[4] and crashes >= tonumber(ARGV[3]) then
    finish(keys, run_id, now, {status = 'error', endedBy = 'error', error = ARGV[4]}, retention_of(ARGV[5]))
    done = 'aside'
  else
    redis.call('HSET', keys.run, 'status', 'pending', 'kind', 'takeover', 'delivery', 1)
    redis.call('HINCRBY', keys.run, 'seq', 1)
    emit(keys.outbox, keys.run, run_id, now, {dispatch = dispatch_of(keys.run, run_id, 0)})
    done = 'taken'
  end
end
return {done, unpack(redis.call('HVALS', keys.outbox))}
