-- The common beginning of every script.
-- ARGV[1]  the time in epoch milliseconds, or empty for Redis's own clock
local now
if ARGV[1] ~= '' then
  now = tonumber(ARGV[1])
else
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The newest announced version of the directory; 0 for none. Replies carry numbers up to 2^52 exactly.
local function read_version(name)
  local found = redis.pcall('HGET', name, 'version')
  if type(found) == 'table' then redis.call('DEL', name) end
  local version = tonumber(found) or 0
  return version > 0 and math.min(math.floor(version), 4503599627370496) or 0
end
