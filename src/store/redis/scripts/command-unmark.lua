-- Removes the mark of a server that was just found without work, unless the mark is young: then a command may be on its
-- way.
-- KEYS[1]  waiting: a sorted set of server ids by the time of their last mark
-- ARGV[3]  how old the mark must be, ms    ARGV[4]  server id
-- Returns  1 when it was removed or else 0
local marked_at = redis.call('ZSCORE', KEYS[1], ARGV[4])
if not marked_at or now - tonumber(marked_at) <= tonumber(ARGV[3]) then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[4])
