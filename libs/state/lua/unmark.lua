-- Forgets threads, unless somebody marked them again.
-- KEYS marks
-- ARGV mark, member...
for i = 2, #ARGV do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) == ARGV[1] then redis.call('ZREM', KEYS[1], ARGV[i]) end
end
return 1
