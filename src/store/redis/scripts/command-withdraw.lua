-- Withdraws a command whose caller was told that it was not accepted, unless it is being sent or its caller has got a
-- receipt since.
-- KEYS[1..5]  see command-queue.lua
-- KEYS[6]     optional, idempotency   (see command-accept.lua)
-- ARGV[4]  id
-- Returns  nothing
local id = ARGV[4]
local fields = redis.call('HMGET', name_of(id), 'status', 'is_untold')
if fields[1] ~= 'queued' or not fields[2] then return end
redis.call('LREM', queue, 1, id)
delete(id)
if KEYS[6] then redis.call('DEL', KEYS[6]) end
