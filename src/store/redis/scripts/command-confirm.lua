-- Notes that the game's log shows a command; the first note stays.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  id    ARGV[5]  the time that the log gives
-- Returns  1 when it was noted or else 0
local fields = redis.call('HMGET', name_of(ARGV[4]), 'status', 'confirmed_at')
if not fields[1] or fields[2] then return 0 end
redis.call('HSET', name_of(ARGV[4]), 'confirmed_at', now, 'logged_at', ARGV[5])
return 1
