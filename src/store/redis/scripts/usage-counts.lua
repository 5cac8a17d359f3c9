-- Adds to the usage counts of keys.
-- KEYS     for each count the usage of its key: a hash of counts by hour and error code. The same one may come again
-- ARGV[3…] field, times for each
-- Returns  1
for index, name in ipairs(KEYS) do redis.call('HINCRBY', name, ARGV[index * 2 + 1], ARGV[index * 2 + 2]) end
return 1
