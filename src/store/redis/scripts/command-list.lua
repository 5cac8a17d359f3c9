-- Lists commands of a server, newest first. A page of any list is one short range of a sorted set; only in a history whose
-- sets are not complete yet it is searched for, a part at a time.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  only commands with a seq below this
-- ARGV[5]  only commands with this status; empty for all
-- ARGV[6]  how many to return       ARGV[7]  how many to read
-- ARGV[8]  only commands of the key with this id; empty for all
-- Returns  {the seq below which the next part begins or '' after the last part, {command, ...}}
end_stale_sending()

local before, status, limit, reads = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local ids, is_all, name = {}, true, history
if status == 'sending' then
  ids = { redis.call('HGET', sending, 'command_id') or nil }
elseif status == 'queued' then
  local waiting = redis.call('LRANGE', queue, 0, -1)
  for i = #waiting, 1, -1 do ids[#ids + 1] = waiting[i] end
else
  if redis.call('EXISTS', indexed) == 1 then
    name = index_of(ARGV[8], status)
    reads = math.min(reads, limit)
  end
  ids = redis.call('ZREVRANGEBYSCORE', name, '(' .. ARGV[4], '-inf', 'LIMIT', 0, reads)
  is_all = #ids < reads
end

local commands, seq = {}, ''
for i, id in ipairs(ids) do
  local fields = redis.call('HMGET', name_of(id), 'status', 'seq', 'key_id')
  -- A command that an older version has deleted may be left in the set.
  seq = fields[2] or redis.call('ZSCORE', name, id)
  local is_asked = fields[1] and (status == '' or status == fields[1]) and (ARGV[8] == '' or ARGV[8] == fields[3])
  if is_asked and tonumber(seq) < before then
    commands[#commands + 1] = describe(id)
    if #commands == limit then
      is_all = is_all and i == #ids
      break
    end
  end
end
return { is_all and '' or seq, commands }
