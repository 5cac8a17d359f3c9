-- Records that the game's log shows a command. The first record stays.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  id    ARGV[5]  the time in the game's log
-- Returns  1 when it was recorded or else 0
local fields = redis.call('HMGET', name_of(ARGV[4]), 'status', 'confirmed_at')
if not fields[1] or fields[2] then return 0 end
redis.call('HSET', name_of(ARGV[4]), 'confirmed_at', now, 'logged_at', ARGV[5])
return 1
