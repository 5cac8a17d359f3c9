-- What the instances know of a server beyond what one of them knows already, or else the right to ask the game API.
-- KEYS[1]  lease: a string, the token of who may ask
-- KEYS[2]  shared: a hash of version, status, reading (both JSON)
-- ARGV[3]  the version known   ARGV[4]  a token for the lease   ARGV[5]  how long the lease lasts, ms
-- Returns  {version, status, reading} when there is news, {0} with the lease, {-1} when somebody else has it
local kept = redis.call('HMGET', KEYS[2], 'version', 'status', 'reading')
local version = tonumber(kept[1] or 0)
-- Another version, not only a higher one: a Redis that has lost its data begins anew.
if version > 0 and version ~= tonumber(ARGV[3]) then return { version, kept[2], kept[3] } end
if redis.call('SET', KEYS[1], ARGV[4], 'NX', 'PX', ARGV[5]) then return { 0 } end
return { -1 }
