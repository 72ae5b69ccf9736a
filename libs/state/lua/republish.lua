-- What indexes and queue may not know of a thread: its outbox, and how its unfinished runs stand.
-- KEYS base of the thread's keys
-- Returns {transition, ...}
local keys = keys_of(KEYS[1], '')
local now = now_ms()
local transitions = redis.call('HVALS', keys.outbox)
local unfinished = redis.call('LRANGE', keys.lane, 0, -1)
local current = redis.call('HGET', keys.thread, 'current')
if current then table.insert(unfinished, 1, current) end
for _, run_id in ipairs(unfinished) do
  transitions[#transitions + 1] = as_it_stands(keys_of(KEYS[1], run_id), run_id, now)
end
return transitions
