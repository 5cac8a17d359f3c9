-- Replaces the text of a finished command, to forget a player. A hash of the first text is kept, because repeated requests
-- are compared with it.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  id    ARGV[5]  text    ARGV[6]  the message of the game API, or empty
-- Returns  1; 0 when the command is not finished
local name = name_of(ARGV[4])
local fields = redis.call('HMGET', name, 'finished_at', 'text', 'text_hash')
if not fields[1] then return 0 end
redis.call('HSET', name, 'text', ARGV[5], 'text_hash', fields[3] or redis.sha1hex(fields[2]))
if ARGV[6] ~= '' then redis.call('HSET', name, 'upstream_message', ARGV[6]) end
return 1
