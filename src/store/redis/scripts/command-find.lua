-- One command as it is now.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  id
-- Returns  command or false
end_stale_sending()
return describe(ARGV[4])
