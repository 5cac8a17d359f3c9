-- Stands before every script. ARGV[1] is the time in epoch milliseconds, or empty for this server's own clock; ARGV[2] the
-- latest time at which the script may still act, or empty. A script that arrives later, because the server was frozen or
-- the line was slow, does nothing: whoever sent it was told long ago that it failed.
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
