-- Expires commands that have waited for too long.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  how long a command may wait, ms
-- Returns  how many
local cutoff = now - tonumber(ARGV[4])
local function is_late(id) return tonumber(redis.call('HGET', name_of(id), 'queued_at')) < cutoff end
return end_waiting(is_late, 'status', 'expired')
