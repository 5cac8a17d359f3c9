-- Expires commands that have waited for too long.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  how long a command may wait, ms
-- ARGV[5]  how many finished commands are kept    ARGV[6]  cancelled ones    ARGV[7]  how many to drop at most
-- Returns  how many
local cutoff = now - tonumber(ARGV[4])
local function is_late(id) return tonumber(redis.call('HGET', name_of(id), 'queued_at')) < cutoff end
local count = end_waiting(is_late, 'status', 'expired')
if count > 0 then drop_oldest(tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])) end
return count
