-- Puts a command that was not sent back to its place at the head, unless the claim is over.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  id    ARGV[5]  the claim's fence
-- Returns  1, or 0 when the claim is over
local current = redis.call('HMGET', sending, 'command_id', 'fence')
if current[1] ~= ARGV[4] or current[2] ~= ARGV[5] then return 0 end
put_back(ARGV[4])
return 1
