-- Brings the indexes and the batches up to transitions; one that was seen before, or is older than what the
-- indexes know, changes nothing but what is due, where an approval's run is found, and which are closed.
-- KEYS base: every name begins with it, and all share one slot
-- ARGV retention of runs and of batches in seconds, JSON list of {id, member (tenant/thread/run), tenant, version, status, final,
--      worker, seq, batch, created, at, usage (eight numbers as text), deadline, due (a member) and due_at (ms at which
--      it may start), dead, raised, expires (ms by approval), closed, keeps (its shares are those of the activation before)};
--      ids are encoded, what is missing is left out
-- Returns {number of those that were news, their places in the list from 1..., activation that was let in...}: runs that
-- waited for a share (shares/common.lua)
-- Beside what one tenant reads there is what the whole fleet is measured by: `states` (hash status → runs),
-- `approvals-waiting` and `dead-runs` (by time), `batches-open` (by the time of its last change).
local base, retention, batch_retention = KEYS[1], tonumber(ARGV[1]) * 1000, ARGV[2]
local news, changed, granted = {}, {}, {}

-- A batch lives as long as a run of it is not over, and its retention from then on.
local BATCH_PARTS = {'', ':runs', ':ended'}

local function keep_batch(batch)
  for _, part in ipairs(BATCH_PARTS) do redis.call('PERSIST', batch .. part) end
end

local function count_in_batch(batch, t, before, old_usage)
  if not before then
    redis.call('HINCRBY', batch, 'total', 1)
    redis.call('ZADD', batch .. ':runs', t.created, t.id)
  else
    redis.call('HINCRBY', batch, 'n:' .. before, -1)
  end
  redis.call('HINCRBY', batch, 'n:' .. t.status, 1)
  if t.status == 'running' then redis.call('HSETNX', batch, 'startedAt', t.at) end
  if t.usage then
    local old = {}
    for n in string.gmatch(old_usage or '', '%d+') do old[#old + 1] = tonumber(n) end
    local i = 0
    for n in string.gmatch(t.usage, '%d+') do
      i = i + 1
      local delta = tonumber(n) - (old[i] or 0)
      if delta ~= 0 then redis.call('HINCRBY', batch, 'u:' .. i, delta) end
    end
  end
  if t.final or t.status == 'interrupted' then redis.call('RPUSH', batch .. ':ended', t.id) end
  if t.final then
    local b = redis.call('HMGET', batch, 'sealed', 'total', 'n:success', 'n:error', 'n:timeout', 'n:cancelled')
    local ended = tonumber(b[3] or '0') + tonumber(b[4] or '0') + tonumber(b[5] or '0') + tonumber(b[6] or '0')
    if ended == tonumber(b[2]) then
      for _, part in ipairs(BATCH_PARTS) do redis.call('EXPIRE', batch .. part, batch_retention) end
    end
    if b[1] == '1' and ended == tonumber(b[2]) then
      redis.call('HSETNX', batch, 'finishedAt', t.at)
      redis.call('ZREM', base .. 'batches-open', batch)
    end
  elseif before and redis.call('HDEL', batch, 'finishedAt') == 1 then
    redis.call('ZADD', base .. 'batches-open', t.at, batch)
  end
  if t.status == 'pending' then keep_batch(batch) end
  changed[batch] = t.status
end

local function move_between_lists(t, known)
  local before, runs = known[2], base .. 'runs:' .. t.tenant
  if not before then redis.call('ZADD', runs, t.created, t.id) end
  if before ~= t.status then
    if before then redis.call('ZREM', runs .. ':' .. before, t.id) end
    redis.call('ZADD', runs .. ':' .. t.status, t.created, t.id)
    if before then redis.call('HINCRBY', base .. 'states', before, -1) end
    redis.call('HINCRBY', base .. 'states', t.status, 1)
  end
  if t.dead then
    redis.call('ZADD', base .. 'dead-runs', t.at, t.id)
  elseif before == 'error' then
    redis.call('ZREM', base .. 'dead-runs', t.id)
  end
  if known[3] then redis.call('SREM', base .. 'claims:' .. known[3], t.member .. '/' .. known[5]) end
  if t.worker then redis.call('SADD', base .. 'claims:' .. t.worker, t.member .. '/' .. t.seq) end
  if before and t.status ~= 'pending' then redis.call('ZREM', base .. 'due', t.member) end
  if t.final then
    redis.call('ZADD', base .. 'expiring', t.at + retention, t.id)
  elseif before then
    redis.call('ZREM', base .. 'expiring', t.id)
  end
  if t.deadline and not t.final then
    redis.call('ZADD', base .. 'deadlines', t.deadline, t.member)
  elseif t.final or t.seq > 1 then
    -- One that is tried again has no deadline any more, and its end may never be heard of.
    redis.call('ZREM', base .. 'deadlines', t.member)
  end
end

-- New runs come by the hundred: what they add to one list is added at once.
local added, joined, welcomed = {}, {}, 0

local function add(key, score, member)
  local list = added[key] or {}
  added[key] = list
  list[#list + 1] = score
  list[#list + 1] = member
end

local function flush()
  for key, list in pairs(added) do redis.call('ZADD', key, unpack(list)) end
  for batch, count in pairs(joined) do
    redis.call('HINCRBY', batch, 'total', count)
    redis.call('HINCRBY', batch, 'n:pending', count)
    keep_batch(batch)
    changed[batch] = 'pending'
  end
  if welcomed > 0 then redis.call('HINCRBY', base .. 'states', 'pending', welcomed) end
  added, joined, welcomed = {}, {}, 0
end

-- The first that the indexes hear of a run, and that it waits. False where they heard of it before.
local function welcome(t)
  if t.version ~= 1 or t.status ~= 'pending' then return false end
  local record = base .. 'run:' .. t.id
  if redis.call('HSETNX', record, 'v', 1) == 0 then return false end
  redis.call('HSET', record, 's', t.status, 'm', t.member, 'w', '')
  welcomed = welcomed + 1
  local runs = base .. 'runs:' .. t.tenant
  add(runs, t.created, t.id)
  add(runs .. ':pending', t.created, t.id)
  if t.due then add(base .. 'due', t.due_at, t.due) end
  if t.deadline then add(base .. 'deadlines', t.deadline, t.member) end
  if t.batch then
    local batch = base .. 'batch:' .. t.batch
    add(batch .. ':runs', t.created, t.id)
    joined[batch] = (joined[batch] or 0) + 1
  end
  return true
end

local has_shares = redis.call('EXISTS', base .. 'shares') == 1

-- Takes a run's shares away once the activation that has them is over: what shows that stays true for ever, so that
-- the order of transitions does not matter. Gives whether the run waits for a share.
local function settle_shares(t)
  local json = has_shares and redis.call('HGET', base .. 'shares', t.id)
  if not json then return false end
  local record = cjson.decode(json)
  if t.seq > record.q and t.keeps and not record.w then
    record.q, record.d = t.seq, nil
    store_share(base, t.id, record)
  elseif t.seq > record.q or (t.seq == record.q and (t.final or t.status == 'interrupted')) then
    drop_share(base, t.id, record, granted)
    return false
  end
  return record.w ~= nil
end

-- The newest transition by which an approval was raised.
local function raised_at(record, id)
  return tonumber(redis.call('HGET', record, 'a:' .. id) or '0')
end

local function apply(t)
  local record = base .. 'run:' .. t.id
  local known = redis.call('HMGET', record, 'v', 's', 'w', 'u', 'q')
  local waits = settle_shares(t)
  if t.due and not waits then redis.call('ZADD', base .. 'due', t.due_at, t.due) end
  local approvals = base .. 'approvals:' .. t.tenant
  for _, id in ipairs(t.raised or {}) do
    redis.call('HSET', approvals .. ':runs', id, t.member)
    if raised_at(record, id) < t.version then redis.call('HSET', record, 'a:' .. id, t.version) end
  end
  -- What was asked before and is closed stays closed, also where the run has gone on meanwhile.
  for _, id in ipairs(t.closed or {}) do
    if raised_at(record, id) < t.version then
      redis.call('ZREM', approvals, id)
      redis.call('ZREM', base .. 'approvals-waiting', t.member .. '/' .. id)
      redis.call('ZREM', base .. 'approvals-expiring', t.member .. '/' .. id)
    end
  end
  if known[1] and tonumber(known[1]) >= t.version then return false end
  local fields = {'v', t.version, 's', t.status, 'm', t.member, 'w', t.worker or '', 'q', t.seq}
  if t.usage then
    fields[11] = 'u'
    fields[12] = t.usage
  end
  redis.call('HSET', record, unpack(fields))
  if known[3] == '' then known[3] = false end
  move_between_lists(t, known)
  for _, id in ipairs(t.raised or {}) do
    redis.call('ZADD', approvals, t.at, id)
    redis.call('ZADD', base .. 'approvals-waiting', t.at, t.member .. '/' .. id)
  end
  for id, at in pairs(t.expires or {}) do redis.call('ZADD', base .. 'approvals-expiring', at, t.member .. '/' .. id) end
  if t.batch then count_in_batch(base .. 'batch:' .. t.batch, t, known[2], known[4]) end
  return true
end

for place, t in ipairs(cjson.decode(ARGV[3])) do
  local is_news = welcome(t)
  if not is_news then
    flush()
    is_news = apply(t)
  end
  if is_news then news[#news + 1] = place end
end
flush()
for batch, status in pairs(changed) do redis.call('PUBLISH', batch, status) end
local reply = {#news}
for _, place in ipairs(news) do reply[#reply + 1] = place end
for _, activation in ipairs(granted) do reply[#reply + 1] = activation end
return reply
