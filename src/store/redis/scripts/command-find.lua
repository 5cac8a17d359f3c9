-- Finds one command.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  id
-- Returns  command; false when there is none
end_stale_sending()
return describe(ARGV[4])
