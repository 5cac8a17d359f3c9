-- Records the result of sending, unless the claim has ended.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  id    ARGV[5]  the fencing token of the claim
-- ARGV[6]  '1' when the command was sent, '0' when it was not
-- ARGV[7]  how many finished commands are kept    ARGV[8]  cancelled ones    ARGV[9]  how many to drop at most
-- ARGV[10…] field, value for each of status, upstream_code, upstream_message
-- Returns  1; 0 when the claim has ended
local current = redis.call('HMGET', sending, 'command_id', 'fence')
if current[1] ~= ARGV[4] or current[2] ~= ARGV[5] then return 0 end
finish_sending(ARGV[4], unpack(ARGV, 10))
if ARGV[6] == '0' then redis.call('HDEL', name_of(ARGV[4]), 'sent_at') end
drop_oldest(tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]))
return 1
