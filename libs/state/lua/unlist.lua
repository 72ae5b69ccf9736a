-- Forgets that something of a scope was put aside, if nothing is any more.
-- KEYS scopes of which something was put aside, what was put aside of the scope
-- ARGV scope
-- Returns nothing
if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('SREM', KEYS[1], ARGV[1]) end
