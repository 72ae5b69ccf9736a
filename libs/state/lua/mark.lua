-- Remembers threads that somebody is about to write to, so that a sweeper finds what a crash may leave.
-- KEYS marks
-- ARGV member...: each mark is its maker's own, also where several mark one thread
-- Returns nothing
local now = string.format('%.0f', now_ms())
local scored = {}
for i, member in ipairs(ARGV) do
  scored[2 * i - 1] = now
  scored[2 * i] = member
end
redis.call('ZADD', KEYS[1], unpack(scored))
