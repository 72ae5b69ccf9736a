-- Takes one unit of each counter if all are below their limits, or none.
-- KEYS thread, run
-- ARGV epoch, worker, then scope ('run' or 'thread'), name, limit of each
-- Returns {'taken'} | {'full', index of the first full one, from 1} | {'lost'}
if not holds(KEYS[1], ARGV[1], ARGV[2]) then return {'lost'} end
local function key_of(scope) if scope == 'run' then return KEYS[2] end return KEYS[1] end
for i = 3, #ARGV, 3 do
  local taken = tonumber(redis.call('HGET', key_of(ARGV[i]), 'count:' .. ARGV[i + 1]) or '0')
  if taken >= tonumber(ARGV[i + 2]) then return {'full', (i - 3) / 3 + 1} end
end
for i = 3, #ARGV, 3 do
  redis.call('HINCRBY', key_of(ARGV[i]), 'count:' .. ARGV[i + 1], 1)
end
return {'taken'}
