-- Returns what is newer about a server than an instance knows, or else the lease to call the game API for it.
-- KEYS[1]  lease: a string, the token of its holder
-- KEYS[2]  shared: a hash of version, standing (the status, JSON), reading (JSON)
-- ARGV[3]  the known version   ARGV[4]  a token for the lease   ARGV[5]  lease, ms
-- Returns  {version, status, reading} when there is news, {0} with the lease, {-1} when another instance holds it
local kept = redis.call('HMGET', KEYS[2], 'version', 'standing', 'reading')
local version = tonumber(kept[1] or 0)
-- Not only a higher version: a Redis that has lost its data starts from 1 again.
if version > 0 and version ~= tonumber(ARGV[3]) then return { version, kept[2], kept[3] } end
if redis.call('SET', KEYS[1], ARGV[4], 'NX', 'PX', ARGV[5]) then return { 0 } end
return { -1 }
