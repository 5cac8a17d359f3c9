-- Cancels a command if it waits, and writes its audit entry into the outbox, as one atomic step.
-- KEYS[1..5]  see command-queue.lua
-- KEYS[6]     outbox: a hash of audit entries (JSON) by the id of their command
-- ARGV[4]  id    ARGV[5]  the audit entry, or empty for none
-- ARGV[6]  how many finished commands are kept    ARGV[7]  cancelled ones    ARGV[8]  how many to drop at most
-- Returns  {1 when this has cancelled it or else 0, command; false when there is none}
end_stale_sending()
local count = end_waiting(function(id) return id == ARGV[4] end, 'status', 'cancelled')
if count == 1 and ARGV[5] ~= '' then redis.call('HSET', KEYS[6], ARGV[4], ARGV[5]) end
local command = describe(ARGV[4])
if count == 1 then drop_oldest(tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])) end
return { count, command }
