-- Compare-and-swap of a text.
-- KEYS[1]  the text: a string
-- ARGV[3]  the expected text; empty when it should not exist   ARGV[4]  the new text   ARGV[5]  how long it is kept, ms
-- Returns  false when it was swapped; else the current text, empty when it does not exist
local found = redis.call('GET', KEYS[1]) or ''
if found ~= ARGV[3] then return found end
if ARGV[4] ~= found then redis.call('SET', KEYS[1], ARGV[4], 'PX', ARGV[5]) end
return false
