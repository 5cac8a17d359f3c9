-- Replaces a text, if it is still what it was.
-- KEYS[1]  the text   ARGV[3]  what it was (empty: not there)   ARGV[4]  what it shall be   ARGV[5]  how long it is kept, ms
-- Returns  false when it was replaced, else the text as it is (empty: not there)
local found = redis.call('GET', KEYS[1]) or ''
if found ~= ARGV[3] then return found end
if ARGV[4] ~= found then redis.call('SET', KEYS[1], ARGV[4], 'PX', ARGV[5]) end
return false
