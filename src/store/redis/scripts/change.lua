-- Changes the directory as one atomic step, and adds to the list of changes that every instance reads.
-- KEYS[1]  version: a counter
-- KEYS[2]  changes: a sorted set of "index change-id id" by version
-- KEYS[3]  audit: a sorted set of "version entry" by version
-- KEYS[4…] the keys of the checks and steps
-- ARGV[3]  the program, JSON; a key in it is an index into KEYS:
--          checks   [[key, field, expected or false], …]: fields of hashes; false for a field that must not exist
--          steps    [[command, key, argument, …], …]
--          changed  [id, …]: what instances must read again, at least one
--          id       the id of this change
--          entry    the audit entry (JSON), or false
--          kept     how many versions of changes are kept
-- Returns  the new version; 0 when a check failed: then nothing was changed
local program = cjson.decode(ARGV[3])

for _, check in ipairs(program.checks) do
  local found = redis.call('HGET', KEYS[check[1]], check[2])
  if found ~= check[3] then return 0 end
end
for _, step in ipairs(program.steps) do
  local command, key = step[1], KEYS[step[2]]
  redis.call(command, key, unpack(step, 3))
end
local version = redis.call('INCR', KEYS[1])
for index, id in ipairs(program.changed) do
  redis.call('ZADD', KEYS[2], version, index .. ' ' .. program.id .. ' ' .. id)
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', version - program.kept)
if program.entry then redis.call('ZADD', KEYS[3], version, version .. ' ' .. program.entry) end
return version
