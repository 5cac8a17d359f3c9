-- Changes the directory, all of it or nothing, and tells every instance.
-- KEYS[1]  version: a counter        KEYS[2]  changes: a sorted set by version of "number change-id id"
-- KEYS[3]  audit: a sorted set of entries by number
-- KEYS[4…] what the program is about
-- ARGV[3]  the program, JSON: checks [[key, field, expected or false]], steps [[command, key, …]] (key: a number into
--          KEYS), changed [ids, one at least], id (of this change), entry (an audit entry as text, or false), kept (how many
--          versions of changes)
-- Returns  the new version, or 0 when a check failed: then nothing was changed
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
