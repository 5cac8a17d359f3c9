-- Lets nothing be claimed for a while, whatever was said about that before.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  hold, ms
-- Returns  1
hold(tonumber(ARGV[4]))
return 1
