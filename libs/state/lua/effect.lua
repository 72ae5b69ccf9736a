-- The ledger of tool calls that must not happen twice. A field is `started:<token>:<ms>` or `done:<result>`.
-- KEYS thread, effects
-- ARGV epoch, worker, what ('claim', 'commit', 'release'), effect id, result (JSON),
--      token of this call: one that is sent again because its reply was lost finds its own
-- Returns {'claimed'} | {'committed', result} | {'unknown', started at ms} | {'ok'} | {'lost'}
if not holds(KEYS[1], ARGV[1], ARGV[2]) then return {'lost'} end
local what, id = ARGV[3], ARGV[4]
if what == 'commit' then
  redis.call('HSET', KEYS[2], id, 'done:' .. ARGV[5])
elseif what == 'release' then
  redis.call('HDEL', KEYS[2], id)
else
  local known = redis.call('HGET', KEYS[2], id)
  if known and string.sub(known, 1, 5) == 'done:' then return {'committed', string.sub(known, 6)} end
  if known and string.match(known, '^started:([^:]*)') == ARGV[6] then return {'claimed'} end
  if known then return {'unknown', string.match(known, '(%d+)$')} end
  redis.call('HSET', KEYS[2], id, 'started:' .. ARGV[6] .. ':' .. string.format('%.0f', now_ms()))
  return {'claimed'}
end
return {'ok'}
