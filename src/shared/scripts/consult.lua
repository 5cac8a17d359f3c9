-- Returns what is newer about a server than an instance knows, or else the lease to call the game API for it.
-- KEYS[1]  lease: a string, the token of its holder
-- KEYS[2]  known: a hash of version, status and reading, both signed
-- ARGV[2]  the known version   ARGV[3]  a token for the lease   ARGV[4]  lease, ms
-- Returns  {version, status, reading} when there is news, {0} with the lease, {-1} when another instance holds it
local kept = redis.call('HMGET', KEYS[2], 'version', 'status', 'reading')
local version = tonumber(kept[1]) or 0
-- Not only a higher version: a Redis that has lost its data starts from 1 again.
if version > 0 and version ~= tonumber(ARGV[2]) then return { version, kept[2], kept[3] } end
-- A lease without an end, or with a later one, is not ours.
local left_ms = redis.call('PTTL', KEYS[1])
if left_ms > 0 and left_ms <= tonumber(ARGV[4]) then return { -1 } end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
return { 0 }
