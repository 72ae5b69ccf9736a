-- Appends events of a running run.
-- KEYS thread, events, run
-- ARGV epoch, worker, longest stream, token of this call, event (JSON)...
-- A run's calls come one after the other: one that is sent again because its reply was lost is the last one.
-- Returns 1, or 0 if the lease is lost
if not holds(KEYS[1], ARGV[1], ARGV[2]) then return 0 end
if redis.call('HGET', KEYS[3], 'told') == ARGV[4] then return 1 end
redis.call('HSET', KEYS[3], 'told', ARGV[4])
for i = 5, #ARGV do
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], '*', 'e', ARGV[i])
end
redis.call('PUBLISH', KEYS[2], '')
return 1
