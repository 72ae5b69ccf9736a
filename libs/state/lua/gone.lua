-- Workers whose time is over, with what they had claimed.
-- KEYS workers, claims base
-- ARGV most claims
-- Returns {worker, number of claims, claim..., worker, ...}
local reply = {}
for _, worker in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now_ms())) do
  local claims = redis.call('SRANDMEMBER', KEYS[2] .. worker, ARGV[1])
  reply[#reply + 1] = worker
  reply[#reply + 1] = #claims
  for _, claim in ipairs(claims) do reply[#reply + 1] = claim end
end
return reply
