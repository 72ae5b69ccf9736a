-- Appends events of a running run.
-- KEYS thread, events
-- ARGV epoch, worker, longest stream, event (JSON)...
-- Returns 1, or 0 if the lease is lost
if not holds(KEYS[1], ARGV[1], ARGV[2]) then return 0 end
for i = 4, #ARGV do
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], '*', 'e', ARGV[i])
end
redis.call('PUBLISH', KEYS[2], '')
return 1
