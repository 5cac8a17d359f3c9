-- Compare-and-swap of a text.
-- KEYS[1]  the text: a string
-- ARGV[2]  the expected text; empty when it should not exist   ARGV[3]  the new text   ARGV[4]  how long it is kept, ms
-- Returns  false when it was swapped; else the current text, empty when it does not exist
local found = redis.call('GET', KEYS[1]) or ''
if found ~= ARGV[2] then return found end
if ARGV[3] ~= found then redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4]) end
return false
