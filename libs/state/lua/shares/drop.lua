-- Takes away what a run has or waits for by an activation that is over, or by deliveries of it that are void.
-- KEYS base of the indexes
-- ARGV run id, seq, the last delivery that is void or '' for all
-- Returns {activation that was let in, ...}
local granted = {}
local json = redis.call('HGET', KEYS[1] .. 'shares', ARGV[1])
local record = json and cjson.decode(json)
local seq, void = tonumber(ARGV[2]), tonumber(ARGV[3]) or math.huge
if record and (record.q < seq or (record.q == seq and (record.d or 0) <= void)) then drop_share(KEYS[1], ARGV[1], record, granted) end
return granted
