-- Remembers threads that a producer is about to write to, so that a sweeper finds what its crash may leave.
-- KEYS marks
-- ARGV member...
-- Returns the mark: milliseconds by Redis's clock
local now = string.format('%.0f', now_ms())
for _, member in ipairs(ARGV) do redis.call('ZADD', KEYS[1], now, member) end
return now
