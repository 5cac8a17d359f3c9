-- Saves when keys were last used, and the oldest hour that is kept of each.
-- KEYS[1]  last used: a hash of times by key
-- KEYS[2]  oldest hours: a sorted set of keys by the oldest hour kept of each
-- ARGV[3…] key, time, hour for each
-- Returns  1
for index = 3, #ARGV, 3 do
  local key_id, at, hour = ARGV[index], tonumber(ARGV[index + 1]), ARGV[index + 2]
  local before = tonumber(redis.call('HGET', KEYS[1], key_id) or 0)
  if at > before then redis.call('HSET', KEYS[1], key_id, ARGV[index + 1]) end
  redis.call('ZADD', KEYS[2], 'LT', hour, key_id)
end
return 1
