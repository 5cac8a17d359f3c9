-- Puts a command that was not sent back to the head of its queue, unless the claim has ended.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  id    ARGV[5]  the fencing token of the claim
-- Returns  1; 0 when the claim has ended
local current = redis.call('HMGET', sending, 'command_id', 'fence')
if current[1] ~= ARGV[4] or current[2] ~= ARGV[5] then return 0 end
put_back(ARGV[4])
return 1
