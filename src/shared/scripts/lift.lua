-- Ends the block of an API key, and begins a fresh window. Until the lift is known to all instances, none brings the block back.
-- KEYS[1]  window (see limit.lua)
-- ARGV[2]  1 when the database has a block of this API key, or else 0: then only a block that is here is ended
-- Returns  1; 0 when there is no block
local blocked_until = tonumber(redis.pcall('HGET', KEYS[1], 'blocked_until')) or 0
if blocked_until <= now and ARGV[2] ~= '1' then return 0 end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'lifted_at', now)
redis.call('PEXPIREAT', KEYS[1], now + WINDOW_MS)
return 1
