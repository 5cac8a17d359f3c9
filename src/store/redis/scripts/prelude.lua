-- The common beginning of every script.
-- ARGV[1]  the time in epoch milliseconds, or empty for Redis's own clock
-- ARGV[2]  the deadline in epoch milliseconds, or empty for none. A script that runs later, because Redis was frozen or the
--          connection was slow, does nothing: its sender has already reported a failure
local now
if ARGV[1] ~= '' then
  now = tonumber(ARGV[1])
else
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
if ARGV[2] ~= '' and now > tonumber(ARGV[2]) then
  return redis.error_reply('LATE the script came too late to act')
end
