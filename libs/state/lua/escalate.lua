-- Passes an approval whose time is over on to others, for a time of theirs.
-- KEYS base of the thread's keys
-- ARGV run id, approval id, its terms from now on (JSON), milliseconds until it expires again, title
-- Returns {'escalated', transition} | {'none'}: it was answered, or its time is not over
local run_id, id = ARGV[1], ARGV[2]
local keys = keys_of(KEYS[1], run_id)
local f = redis.call('HMGET', keys.run, 'status', 'waiting', 'expires:' .. id)
local now = now_ms()
if f[1] ~= 'interrupted' or not contains(f[2] or '', id) or not f[3] or now < tonumber(f[3]) then return {'none'} end
local expires = now + tonumber(ARGV[4])
redis.call('HSET', keys.run, 'terms:' .. id, ARGV[3], 'expires:' .. id, string.format('%.0f', expires))
return {'escalated', emit(keys.outbox, keys.run, run_id, now, {endedBy = 'interrupt',
  raised = {{approvalId = id, title = ARGV[5], expiresAt = expires}}})}
