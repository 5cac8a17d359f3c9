-- Drops the oldest finished commands beyond the limits: a history that an older version has let grow.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  how many finished commands are kept    ARGV[5]  cancelled ones    ARGV[6]  how many to drop at most
-- Returns  how many were dropped
return drop_oldest(tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]))
