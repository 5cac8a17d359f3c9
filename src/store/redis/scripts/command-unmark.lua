-- Takes back the mark of a server that was just seen with nothing to do, unless the mark is young: a command may be on its
-- way then.
-- KEYS[1]  waiting: a sorted set of server ids by the time of their last mark
-- ARGV[3]  how old the mark must be, ms    ARGV[4]  server id
-- Returns  how many
local marked_at = redis.call('ZSCORE', KEYS[1], ARGV[4])
if not marked_at or now - tonumber(marked_at) <= tonumber(ARGV[3]) then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[4])
