-- Fails all waiting commands of a server, and deletes its pace.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  the message for the commands
-- ARGV[5]  how many finished commands are kept    ARGV[6]  cancelled ones    ARGV[7]  how many to drop at most
-- Returns  how many
redis.call('DEL', pace)
local count = end_waiting(function() return true end, 'status', 'failed', 'upstream_message', ARGV[4])
if count > 0 then drop_oldest(tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])) end
return count
