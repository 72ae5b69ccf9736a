-- Removes a thread, unless a run of it is not over.
-- KEYS base of the thread's keys
-- ARGV every other key that was found under the base: what runs left, of which the thread keeps no list
-- Returns {'erased', number of keys} | {'busy', run id}
local keys = keys_of(KEYS[1], '')
local current = redis.call('HGET', keys.thread, 'current')
if current then return {'busy', current} end
local erased = redis.call('DEL', keys.lane, keys.outbox)
for _, key in ipairs(parts_of(KEYS[1])) do erased = erased + redis.call('DEL', key) end
for _, key in ipairs(ARGV) do erased = erased + redis.call('DEL', key) end
return {'erased', erased}
