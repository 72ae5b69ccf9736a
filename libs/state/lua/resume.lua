-- Closes an approval, once: with an answer, or because its time is over. When none of the run's approvals waits any
-- more, makes the next activation; or ends the run, where that is what its end of time means.
-- KEYS base of the thread's keys
-- ARGV run id, approval id, answer (JSON), who ('answer' | 'expiry'), agent version that the run goes on with or '',
--      error that ends the run (JSON) or '', retention
-- Returns {'answered', transition} | {'waiting', transition} | {'already', answer} | {'closed', status} | {'unknown'}
--         | {'expired', ms} | {'early', ms or ''}
local run_id, id = ARGV[1], ARGV[2]
local keys = keys_of(KEYS[1], run_id)

local f = redis.call('HMGET', keys.run, 'status', 'waiting', 'approval:' .. id, 'answer:' .. id, 'expires:' .. id)
if not f[3] then return {'unknown'} end
if f[4] then return {'already', f[4]} end
if f[1] ~= 'interrupted' or not contains(f[2] or '', id) then return {'closed', f[1]} end

local now = now_ms()
local is_over = f[5] and now >= tonumber(f[5])
if ARGV[4] == 'answer' and is_over then return {'expired', f[5]} end
if ARGV[4] == 'expiry' and not is_over then return {'early', f[5] or ''} end

redis.call('HSET', keys.run, 'answer:' .. id, ARGV[3], 'answeredAt:' .. id, string.format('%.0f', now))
local waiting, all = {}, {}
for other in string.gmatch(f[2], '[^,]+') do
  all[#all + 1] = other
  if other ~= id then waiting[#waiting + 1] = other end
end
if ARGV[6] ~= '' then
  redis.call('HDEL', keys.run, 'waiting')
  return {'answered', finish(keys, run_id, now, {status = 'error', endedBy = 'error', error = ARGV[6], closed = all}, retention_of(ARGV[7]))}
end
local resume = redis.call('HGET', keys.run, 'resume')
redis.call('HSET', keys.run, 'resume', resume and (resume .. ',' .. id) or id, 'waiting', table.concat(waiting, ','))
if #waiting > 0 then
  return {'waiting', emit(keys.outbox, keys.run, run_id, now, {closed = {id}})}
end
redis.call('HSET', keys.run, 'status', 'pending', 'kind', 'resume', 'delivery', 1, 'resumeVersion', ARGV[5])
redis.call('HDEL', keys.run, 'endedBy')
redis.call('HINCRBY', keys.run, 'seq', 1)
return {'answered', emit(keys.outbox, keys.run, run_id, now, {closed = {id}, dispatch = dispatch_of(keys.run, run_id, 0)})}
