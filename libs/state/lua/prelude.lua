-- Stands before every script of this folder, checkpoints apart.
-- Scripts keep no table of legal transitions: they are given the states from which a move is allowed.

-- A Redis that has no memory left refuses commands that may take more of it and does the others: a script would be done
-- by half. This changes nothing and is refused first.
redis.call('SETRANGE', KEYS[1] .. '~', 0, '')

-- Milliseconds since 1970 by Redis's clock: the only clock that Drover trusts.
local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Whether `holder` still has the lease of `epoch` on the thread. Nothing is written where this is false.
local function holds(thread_key, epoch, holder)
  local lease = redis.call('HMGET', thread_key, 'epoch', 'holder')
  return lease[1] == epoch and lease[2] == holder
end

local function contains(csv, word)
  return string.find(',' .. csv .. ',', ',' .. word .. ',', 1, true) ~= nil
end

-- An entry that nobody removed was learnt long before; see libs/queue, publisher.ts.
local OUTBOX_SECONDS = 604800

local USAGE = {'modelCalls', 'toolCalls', 'inputTokens', 'outputTokens', 'cachedTokens', 'reasoningTokens', 'costMicros', 'unpricedCalls'}

-- A pointer to the run's newest activation, for the queue.
local function dispatch_of(run_key, run_id, delay_ms)
  local f = redis.call('HMGET', run_key, 'seq', 'delivery', 'priority')
  return {runId = run_id, seq = tonumber(f[1]), delivery = tonumber(f[2]), priority = tonumber(f[3]), delayMs = delay_ms}
end

-- Completes a transition from the run's record, as a new version of it.
local function describe(run_key, run_id, now, change)
  change.runId = run_id
  change.at = now
  change.version = redis.call('HINCRBY', run_key, 'version', 1)
  redis.call('HSET', run_key, 'updatedAt', now)
  local f = redis.call('HMGET', run_key, 'status', 'agent', 'batch', 'createdAt', 'deadlineAt', 'seq', 'notify', 'kind', unpack(USAGE))
  change.status = f[1]
  change.agent = f[2]
  change.batchId = f[3] or nil
  change.createdAt = tonumber(f[4])
  change.deadlineAt = f[5] and tonumber(f[5]) or nil
  change.seq = tonumber(f[6])
  change.notify = f[7] or nil
  change.kind = f[8]
  for i, name in ipairs(USAGE) do
    if f[8 + i] then
      change.usage = change.usage or {}
      change.usage[name] = tonumber(f[8 + i])
    end
  end
  return cjson.encode(change)
end

-- Puts a transition into the outbox, from which indexes and queue learn of it, and gives its JSON.
-- `change` may carry worker, endedBy, code, raised, closed, dispatch.
local function emit(outbox_key, run_key, run_id, now, change)
  local json = describe(run_key, run_id, now, change)
  redis.call('HSET', outbox_key, run_id .. ':' .. change.version, json)
  redis.call('EXPIRE', outbox_key, OUTBOX_SECONDS)
  return json
end

-- A transition that says how a run stands, for indexes and a queue that may not know it. Changes nothing else.
local function as_it_stands(keys, run_id, now)
  local f = redis.call('HMGET', keys.run, 'status', 'worker', 'endedBy', 'delayUntil')
  local change = {worker = f[2] or nil, endedBy = f[3] or nil}
  local current = redis.call('HGET', keys.thread, 'current')
  if f[1] == 'pending' and current and current ~= run_id then change.behind = current end
  if f[1] == 'pending' and current == run_id then
    change.dispatch = dispatch_of(keys.run, run_id, math.max(tonumber(f[4] or '0') - now, 0))
  end
  return describe(keys.run, run_id, now, change)
end

-- Appends to the run's events and wakes who follows it.
local function tell(events_key, json, max_length)
  redis.call('XADD', events_key, 'MAXLEN', '~', max_length, '*', 'e', json)
  redis.call('PUBLISH', events_key, '')
end

-- Gives back what Redis keeps free behind a short stream for what might be appended: 4 KiB, more than most runs' events.
-- Where a server does not allow it, the stream stays as it is.
local function fit_stream(key)
  if redis.call('XLEN', key) > 100 then return end
  local bytes = redis.pcall('DUMP', key)
  if type(bytes) == 'string' then redis.pcall('RESTORE', key, 0, bytes, 'REPLACE') end
end

-- What a thread is made of, its runs apart: all of it lives and ends together. What refers to what is here alone.
local function parts_of(base)
  local meta = base .. ':cp'
  local parts = {base .. ':thread', base .. ':effects', meta, meta .. ':b', meta .. ':r'}
  for _, field in ipairs(redis.call('HKEYS', meta)) do
    if string.sub(field, 1, 2) == 'h:' then parts[#parts + 1] = meta .. ':l:' .. string.sub(field, 3) end
  end
  return parts
end

-- While a run of the thread is not over, however long it waits, nothing of the thread expires.
local function keep_thread(base)
  if redis.call('EXISTS', base .. ':thread', base .. ':cp') == 0 then return end
  for _, key in ipairs(parts_of(base)) do redis.call('PERSIST', key) end
end

local function let_thread_go(base, seconds)
  for _, key in ipairs(parts_of(base)) do redis.call('EXPIRE', key, seconds) end
end

-- Gives the thread to the next run of its lane. Returns that run's pointer, or nil if nobody waits.
local function advance(keys, thread_retention)
  local thread_key, run_prefix = keys.thread, keys.run_prefix
  local next_id = redis.call('LPOP', keys.lane)
  if not next_id then
    redis.call('HDEL', thread_key, 'current', 'holder')
    let_thread_go(keys.base, thread_retention)
    return nil
  end
  redis.call('HSET', thread_key, 'current', next_id)
  redis.call('HDEL', thread_key, 'holder')
  local next_key = run_prefix .. next_id
  local delay = tonumber(redis.call('HGET', next_key, 'delayUntil') or '0') - now_ms()
  return dispatch_of(next_key, next_id, math.max(delay, 0))
end

-- Cuts a list or a text off where it ended before.
local function cut_list(key, length)
  if length > 0 then redis.call('LTRIM', key, 0, length - 1) else redis.call('DEL', key) end
end

-- Takes back what a run wrote to its thread's checkpoints: they are as its first write found them (it is noted in the
-- run's record by checkpoints/append.lua). Who has read the thread finds another generation, and reads it anew.
-- Where others have written the thread anew meanwhile, nothing can be taken back.
local function roll_back(base, run_key, run_id, now)
  local found = redis.call('HGET', run_key, 'u:')
  if not found then return end
  local meta = base .. ':cp'
  local bodies, refs, generation = string.match(found, '^(%d+):(%d+):(.*)$')
  local noted = {}
  for _, field in ipairs(redis.call('HKEYS', run_key)) do
    if string.sub(field, 1, 2) == 'u:' then noted[#noted + 1] = field end
  end
  if generation == '' then
    for _, field in ipairs(redis.call('HKEYS', meta)) do
      if string.sub(field, 1, 2) == 'h:' then redis.call('DEL', meta .. ':l:' .. string.sub(field, 3)) end
    end
    redis.call('DEL', meta, meta .. ':b', meta .. ':r')
  elseif redis.call('HGET', meta, 'g') == generation then
    for _, field in ipairs(noted) do
      local head_field = string.sub(field, 3)
      if head_field ~= '' then
        local length, head = string.match(redis.call('HGET', run_key, field), '^(%d+):(.*)$')
        cut_list(meta .. ':l:' .. string.sub(head_field, 3), tonumber(length))
        if length == '0' then redis.call('HDEL', meta, head_field) else redis.call('HSET', meta, head_field, head) end
      end
    end
    cut_list(meta .. ':b', tonumber(bodies))
    if refs == '0' then
      redis.call('DEL', meta .. ':r')
    else
      redis.call('SET', meta .. ':r', redis.call('GETRANGE', meta .. ':r', 0, tonumber(refs) - 1), 'KEEPTTL')
    end
    local stamp = string.format('%.0f', now) .. run_id
    redis.call('HSET', meta, 't', stamp, 'g', stamp)
  end
  for _, field in ipairs(noted) do redis.call('HDEL', run_key, field) end
end

-- Moves a run to a final state and passes the thread on. `ending`: status, endedBy, error (JSON or ''), reason.
local function finish(keys, run_id, now, ending, retention)
  redis.call('HSET', keys.run, 'status', ending.status, 'endedBy', ending.endedBy, 'finishedAt', now)
  redis.call('HDEL', keys.run, 'worker', 'resume')
  if redis.call('HGET', keys.run, 'rollback') then roll_back(keys.base, keys.run, run_id, now) end
  local code = nil
  if ending.error ~= '' then
    redis.call('HSET', keys.run, 'error', ending.error)
    code = cjson.decode(ending.error).code
  end
  local current = redis.call('HGET', keys.thread, 'current')
  local pointer = nil
  if current == run_id then
    pointer = advance(keys, retention.thread)
  else
    redis.call('LREM', keys.lane, 1, run_id)
  end
  local event = {type = 'status', status = ending.status, endedBy = ending.endedBy}
  local f = redis.call('HMGET', keys.run, 'attempt', 'seq')
  event.attempt = tonumber(f[1])
  event.seq = tonumber(f[2])
  if ending.error ~= '' then event.error = cjson.decode(ending.error) end
  tell(keys.events, cjson.encode(event), retention.events_length)
  fit_stream(keys.events)
  redis.call('EXPIRE', keys.run, retention.run)
  redis.call('EXPIRE', keys.events, retention.events)
  return emit(keys.outbox, keys.run, run_id, now, {endedBy = ending.endedBy, code = code, dispatch = pointer, closed = ending.closed})
end

-- The names of a thread's keys and of one of its runs, as keys.ts gives them. They share the slot of KEYS[1].
local function keys_of(base, run_id)
  return {
    base = base, thread = base .. ':thread', lane = base .. ':lane', outbox = base .. ':outbox', run_prefix = base .. ':run:',
    run = base .. ':run:' .. run_id, events = base .. ':events:' .. run_id,
  }
end

local function retention_of(csv)
  local n = {}
  for part in string.gmatch(csv, '%d+') do n[#n + 1] = tonumber(part) end
  return {run = n[1], thread = n[2], events = n[3], events_length = n[4]}
end
