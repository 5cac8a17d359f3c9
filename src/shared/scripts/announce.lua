-- Announces a version of the directory.
-- KEYS[1]  directory: a hash of version, and since: the time when this Redis was last found to have missed a version
-- ARGV[2]  the version   ARGV[3]  a version that cannot be, which is overwritten by a smaller one; 0 for none
-- Returns  1 when it was written, or else 0
local version, new_version = read_version(KEYS[1]), tonumber(ARGV[2])
if version >= new_version and version ~= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], 'version', new_version)
if version < new_version - 1 then redis.call('HSET', KEYS[1], 'since', now) end
return 1
