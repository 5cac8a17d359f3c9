-- Records how sending went, unless the claim is over.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  id    ARGV[5]  the claim's fence
-- ARGV[6]  '1' when it was handed over, '0' when it was not
-- ARGV[7..] fields and values for the command: status, upstream_code, upstream_message
-- Returns  1, or 0 when the claim is over
local current = redis.call('HMGET', sending, 'command_id', 'fence')
if current[1] ~= ARGV[4] or current[2] ~= ARGV[5] then return 0 end
finish_sending(ARGV[4], unpack(ARGV, 7))
if ARGV[6] == '0' then redis.call('HDEL', name_of(ARGV[4]), 'sent_at') end
return 1
