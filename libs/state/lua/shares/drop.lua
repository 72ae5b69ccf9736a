-- Takes away what a run has or waits for by an activation that is over.
-- KEYS base of the indexes
-- ARGV run id, seq
-- Returns {activation that was let in, ...}
local granted = {}
local json = redis.call('HGET', KEYS[1] .. 'shares', ARGV[1])
local record = json and cjson.decode(json)
if record and record.q <= tonumber(ARGV[2]) then drop_share(KEYS[1], ARGV[1], record, granted) end
return granted
