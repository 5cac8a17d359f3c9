-- Deletes audit entries from before a time, oldest first.
-- KEYS[1]  audit   (see change.lua)
-- ARGV[3]  the time   ARGV[4]  how many at most
-- Returns  how many were deleted
local entries = redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[4]) - 1)
local deleted = 0
for _, member in ipairs(entries) do
  local entry = cjson.decode(string.match(member, '^%d+ (.*)$'))
  if entry.at >= tonumber(ARGV[3]) then break end
  redis.call('ZREM', KEYS[1], member)
  deleted = deleted + 1
end
return deleted
