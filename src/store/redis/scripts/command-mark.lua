-- Marks a server as one with work waiting, before a command for it is accepted.
-- KEYS[1]  waiting: a sorted set of server ids by the time of their last mark
-- ARGV[3]  server id    ARGV[4]  a younger mark than this is not renewed, ms
-- Returns  1
local marked_at = redis.call('ZSCORE', KEYS[1], ARGV[3])
if not marked_at or now - tonumber(marked_at) > tonumber(ARGV[4]) then redis.call('ZADD', KEYS[1], now, ARGV[3]) end
return 1
