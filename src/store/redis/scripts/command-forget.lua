-- Forgets what finished long ago. Looks at a part of a long history only, oldest first, and says where to go on.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  how long what has finished is kept, ms
-- ARGV[5]  only those with a seq above this        ARGV[6]  how many to look at
-- Returns  the seq to go on above, or '' when that was all
end_stale_sending()
local cutoff, looks = now - tonumber(ARGV[4]), tonumber(ARGV[6])
local ids = redis.call('ZRANGEBYSCORE', history, '(' .. ARGV[5], '+inf', 'LIMIT', 0, looks)
local seq = ''
for _, id in ipairs(ids) do
  local fields = redis.call('HMGET', name_of(id), 'seq', 'queued_at', 'finished_at')
  -- What came since cannot have finished before.
  if tonumber(fields[2]) >= cutoff then return '' end
  seq = fields[1]
  if fields[3] and tonumber(fields[3]) < cutoff then
    redis.call('DEL', name_of(id))
    redis.call('ZREM', history, id)
    redis.call('ZREM', sent, id)
  end
end
return #ids < looks and '' or seq
