-- Ends a run that no worker has; asks the worker of a running one to stop.
-- KEYS base of the thread's keys
-- ARGV run id, error (JSON), retention, states from which a run may be cancelled, status that it ends in,
--      1 to end only a run whose deadline has passed (its worker ends a running one itself), id of the message that
--      asks or ''
-- Returns {'ended', transition} | {'signalled', worker} | {'final', status} | {'unknown'} | {'early'} | {'before'}: by the same message
local run_id = ARGV[1]
local keys = keys_of(KEYS[1], run_id)
local f = redis.call('HMGET', keys.run, 'status', 'worker', 'waiting', 'deadlineAt')
if not f[1] then return {'unknown'} end
if ARGV[7] ~= '' and redis.call('HGET', keys.run, 'cancelledBy') == ARGV[7] then return {'before'} end
if not contains(ARGV[4], f[1]) then return {'final', f[1]} end
local now = now_ms()
if ARGV[6] == '1' and (not f[4] or tonumber(f[4]) > now) then return {'early'} end
if ARGV[7] ~= '' then redis.call('HSET', keys.run, 'cancelledBy', ARGV[7]) end
if f[1] == 'running' then
  if ARGV[6] == '1' then return {'early'} end
  redis.call('HSETNX', keys.run, 'cancel', ARGV[2])
  return {'signalled', f[2] or ''}
end
local closed = {}
for id in string.gmatch(f[3] or '', '[^,]+') do closed[#closed + 1] = id end
redis.call('HDEL', keys.run, 'waiting')
return {'ended', finish(keys, run_id, now, {status = ARGV[5], endedBy = ARGV[5], error = ARGV[2], closed = #closed > 0 and closed or nil}, retention_of(ARGV[3]))}
