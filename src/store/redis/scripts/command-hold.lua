-- Allows no claim for a while. Replaces an earlier hold.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  hold, ms
-- Returns  1
hold(tonumber(ARGV[4]))
return 1
