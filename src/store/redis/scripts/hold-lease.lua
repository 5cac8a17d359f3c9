-- Takes a lease that nobody holds, or renews one's own.
-- KEYS[1]  lease: a string, the token of its holder
-- ARGV[3]  a token   ARGV[4]  lease, ms
-- Returns  1 when the token holds the lease now; 0 when another does
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[3] then return 0 end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
return 1
