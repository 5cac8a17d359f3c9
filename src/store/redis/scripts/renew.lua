-- Keeps a lease for longer, if it is still held.
-- KEYS[1]  lease   ARGV[3]  its token   ARGV[4]  how long from now on, ms
-- Returns  1, or 0 when it was lost
if redis.call('GET', KEYS[1]) ~= ARGV[3] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[4])
