-- Forgets a worker, unless it has claims: one that was noted in this moment must be found by the next round.
-- KEYS workers, worker, cancels of the worker, claims of the worker
-- ARGV worker, 1 to forget it only if its time is over
-- Returns 1 if it is forgotten
if redis.call('EXISTS', KEYS[4]) == 1 then return 0 end
if ARGV[2] == '1' then
  local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
  if score and tonumber(score) > now_ms() then return 0 end
end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('DEL', KEYS[2], KEYS[3])
return 1
