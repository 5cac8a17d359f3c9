-- Ends all that wait for a server that is going, and forgets its pace.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  what to say about it
-- Returns  how many
redis.call('DEL', pace)
return end_waiting(function() return true end, 'status', 'failed', 'upstream_message', ARGV[4])
