-- Forgets threads, unless somebody marked them again.
-- KEYS marks
-- ARGV mark, member...
local mark = table.remove(ARGV, 1)
local marked = redis.call('ZMSCORE', KEYS[1], unpack(ARGV))
local mine = {}
for i, score in ipairs(marked) do
  if score and tonumber(score) == tonumber(mark) then mine[#mine + 1] = ARGV[i] end
end
if #mine > 0 then redis.call('ZREM', KEYS[1], unpack(mine)) end
return #mine
