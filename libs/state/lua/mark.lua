-- Remembers threads that a producer is about to write to, so that a sweeper finds what its crash may leave.
-- KEYS marks
-- ARGV member...
-- Returns the mark: milliseconds by Redis's clock
local now = string.format('%.0f', now_ms())
local scored = {}
for i, member in ipairs(ARGV) do
  scored[2 * i - 1] = now
  scored[2 * i] = member
end
redis.call('ZADD', KEYS[1], unpack(scored))
return now
