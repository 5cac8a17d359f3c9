-- Deletes commands that finished long ago, oldest first. Reads a part of a long history only.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  how long finished commands are kept, ms
-- ARGV[5]  only commands with a seq above this        ARGV[6]  how many to read
-- Returns  the seq above which the next part begins; '' after the last part
end_stale_sending()
local cutoff, limit = now - tonumber(ARGV[4]), tonumber(ARGV[6])
local ids = redis.call('ZRANGEBYSCORE', history, '(' .. ARGV[5], '+inf', 'LIMIT', 0, limit)
local seq = ''
for _, id in ipairs(ids) do
  local fields = redis.call('HMGET', name_of(id), 'seq', 'queued_at', 'finished_at')
  -- Commands after this one were queued later, so they cannot have finished before the cutoff.
  if tonumber(fields[2]) >= cutoff then return '' end
  seq = fields[1]
  if fields[3] and tonumber(fields[3]) < cutoff then
    delete(id)
  end
end
return #ids < limit and '' or seq
