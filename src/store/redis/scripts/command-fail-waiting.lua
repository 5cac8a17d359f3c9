-- Fails all waiting commands of a server, and deletes its pace.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  the message for the commands
-- Returns  how many
redis.call('DEL', pace)
return end_waiting(function() return true end, 'status', 'failed', 'upstream_message', ARGV[4])
