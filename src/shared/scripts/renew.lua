-- Renews a lease that is still held.
-- KEYS[1]  lease   (see consult.lua)
-- ARGV[2]  its token   ARGV[3]  lease, ms
-- Returns  1; 0 when the lease was lost
if redis.call('GET', KEYS[1]) ~= ARGV[2] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[3])
