-- Gives a worker the lease of the thread and moves the run to running. Each activation is claimed once.
-- KEYS base of the thread's keys
-- ARGV run id, seq, worker, states from which a run may become running, the worker's agents (JSON name → version),
--      longest stream of events, a token of this call, delivery for which the worker took the run's shares or '',
--      names of agents whose runs need one ('*' for all), most crashes
-- A call that is sent again because its reply was lost finds its own token and gets the same reply.
-- Returns {'claimed', epoch, transition, request, input, kind, attempt, most attempts, agent version,
--          deadline or '', now, resume checkpoint or '', 1 if the thread has checkpoints,
--          1 if it must be alone on its worker (takeover.lua), answer...} | {'gone'} | {'stale'} | {'held', worker} | {'elsewhere', agent}
--          | {'early', ms at which its delay is over} | {'limited', agent, priority, own key (JSON) or '', delivery}
-- Milliseconds by which clocks of machines that are kept in step may differ.
local EARLY_MS = 100
local run_id, seq, worker = ARGV[1], ARGV[2], ARGV[3]
local keys = keys_of(KEYS[1], run_id)

local f = redis.call('HMGET', keys.run, 'status', 'seq', 'worker', 'agent', 'kind', 'resumeVersion', 'claimedBy', 'delayUntil', 'concurrency', 'priority', 'delivery')
if not f[1] then return {'gone'} end
if f[2] ~= seq then return {'stale'} end
local is_again = f[1] == 'running' and f[3] == worker and f[7] == ARGV[7]
if f[1] == 'running' and not is_again then return {'held', f[3] or ''} end
if not is_again and not contains(ARGV[4], f[1]) then return {'stale'} end
if redis.call('HGET', keys.thread, 'current') ~= run_id then return {'stale'} end
local version = cjson.decode(ARGV[5])[f[4]]
-- An answer was given to an agent of one version: only a worker that has it takes the answer, unless told otherwise.
local bound = f[5] == 'resume' and f[6] or ''
if not version or (bound ~= '' and bound ~= version) then return {'elsewhere', f[4]} end

local now = now_ms()
-- Whoever delivered it goes by a clock of its own.
if f[8] and tonumber(f[8]) > now + EARLY_MS then return {'early', f[8]} end
local is_limited = f[9] or ARGV[9] == '*' or contains(ARGV[9], f[4])
if is_limited and not is_again and ARGV[8] ~= f[11] then return {'limited', f[4], f[10], f[9] or '', f[11]} end
local epoch, transition
if is_again then
  epoch, transition = redis.call('HGET', keys.thread, 'epoch'), as_it_stands(keys, run_id, now)
else
  epoch = string.format('%.0f', math.max((tonumber(redis.call('HGET', keys.thread, 'epoch') or '0')) + 1, now))
  redis.call('HSET', keys.thread, 'epoch', epoch, 'holder', worker)
  redis.call('HSET', keys.run, 'status', 'running', 'worker', worker, 'agentVersion', version, 'claimedBy', ARGV[7])
  redis.call('HSETNX', keys.run, 'startedAt', now)
  transition = emit(keys.outbox, keys.run, run_id, now, {worker = worker})
end

local r = redis.call('HMGET', keys.run, 'request', 'input', 'kind', 'attempt', 'deadlineAt', 'resume', 'resumeCheckpoint', 'maxAttempts', 'crashes')
if not is_again then
  tell(keys.events, cjson.encode({type = 'status', status = 'running', attempt = tonumber(r[4]), seq = tonumber(seq)}), tonumber(ARGV[6]))
end
local crashes = tonumber(r[9] or '0')
local answers = {}
if r[6] then
  for id in string.gmatch(r[6], '[^,]+') do answers[#answers + 1] = redis.call('HGET', keys.run, 'answer:' .. id) end
end
return {'claimed', epoch, transition,
  r[1], r[2], r[3], r[4], r[8], version, r[5] or '', string.format('%.0f', now), r[7] or '', redis.call('EXISTS', keys.base .. ':cp'),
  crashes > 0 and crashes + 1 >= tonumber(ARGV[10]) and 1 or 0, unpack(answers)}
