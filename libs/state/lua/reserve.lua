-- Binds an idempotency key to a request, once.
-- KEYS key
-- ARGV what it is bound to, seconds to keep it
-- Returns what it is bound to
redis.call('SET', KEYS[1], ARGV[1], 'NX', 'EX', ARGV[2])
return redis.call('GET', KEYS[1])
