-- Stores the answer to an approval; when none of the run's approvals waits any more, makes the next activation.
-- KEYS base of the thread's keys
-- ARGV run id, approval id, answer (JSON)
-- Returns {'answered', transition} | {'waiting', transition} | {'already', answer} | {'closed', status} | {'unknown'}
local run_id, id = ARGV[1], ARGV[2]
local keys = keys_of(KEYS[1], run_id)

local f = redis.call('HMGET', keys.run, 'status', 'waiting', 'approval:' .. id, 'answer:' .. id)
if not f[3] then return {'unknown'} end
if f[4] then return {'already', f[4]} end
if f[1] ~= 'interrupted' or not contains(f[2] or '', id) then return {'closed', f[1]} end

local now = now_ms()
redis.call('HSET', keys.run, 'answer:' .. id, ARGV[3])
local waiting = {}
for other in string.gmatch(f[2], '[^,]+') do
  if other ~= id then waiting[#waiting + 1] = other end
end
local resume = redis.call('HGET', keys.run, 'resume')
redis.call('HSET', keys.run, 'resume', resume and (resume .. ',' .. id) or id, 'waiting', table.concat(waiting, ','))
if #waiting > 0 then
  return {'waiting', emit(keys.outbox, keys.run, run_id, now, {closed = {id}})}
end
redis.call('HSET', keys.run, 'status', 'pending', 'kind', 'resume', 'delivery', 1)
redis.call('HDEL', keys.run, 'endedBy')
redis.call('HINCRBY', keys.run, 'seq', 1)
return {'answered', emit(keys.outbox, keys.run, run_id, now, {closed = {id}, dispatch = dispatch_of(keys.run, run_id, 0)})}
