-- Takes out the names of expired items.
-- KEYS namespaces of the shard · ARGV the most items · Returns how many there were
return sweep(tonumber(ARGV[1]))
