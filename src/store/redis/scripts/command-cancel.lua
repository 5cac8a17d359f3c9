-- Ends a command if it waits.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  id
-- Returns  {1 when it was ended by this or else 0, command or false}
end_stale_sending()
local count = end_waiting(function(id) return id == ARGV[4] end, 'status', 'cancelled')
return { count, describe(ARGV[4]) }
