-- Removes everything of a thread's checkpoints, in all namespaces, and nothing else.
-- KEYS meta, bodies, refs, thread record · ARGV epoch ('' for no fence), worker
-- Returns {'OK'} | {'LOST'}
if ARGV[1] ~= '' then
  local lease = redis.call('HMGET', KEYS[4], 'epoch', 'holder')
  if lease[1] ~= ARGV[1] or lease[2] ~= ARGV[2] then return {'LOST'} end
end
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 2) == 'h:' then redis.call('DEL', KEYS[1] .. ':l:' .. string.sub(field, 3)) end
end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
return {'OK'}
