-- Gives a lease up that is still held.
-- KEYS[1]  lease: a string, the token of its holder
-- ARGV[3]  its token
-- Returns  1; 0 when the lease was lost
if redis.call('GET', KEYS[1]) ~= ARGV[3] then return 0 end
return redis.call('DEL', KEYS[1])
