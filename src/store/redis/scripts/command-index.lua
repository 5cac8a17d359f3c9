-- Completes the sets beside the history (see command-queue.lua), if an older version has written to it. Reads a part of a
-- long history only.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  only commands with a seq above this        ARGV[5]  how many to read
-- Returns  the seq above which the next part begins; '' after the last part
if redis.call('EXISTS', indexed) == 1 or redis.call('EXISTS', history) == 0 then return '' end
local limit = tonumber(ARGV[5])
local ids = redis.call('ZRANGEBYSCORE', history, '(' .. ARGV[4], '+inf', 'LIMIT', 0, limit)
local seq = ''
for _, id in ipairs(ids) do
  local fields = redis.call('HMGET', name_of(id), 'key_id', 'seq', 'finished_at')
  if fields[1] then
    seq = fields[2]
    redis.call('ZADD', index_of(fields[1], ''), seq, id)
    if fields[3] then index_finished(id) end
  end
end
if #ids == limit and seq ~= '' then return seq end
redis.call('SET', indexed, 1)
return ''
