-- Revokes the next batch of keys of a deleted server, as one atomic step.
-- KEYS[1]  keys: a hash of key records (JSON) by id
-- KEYS[2]  keys of the server: a sorted set of key ids by seq
-- KEYS[3]  deletion: a hash of deleted_at, after (the seq of the last key that was handled), revoked_keys, failed_commands
-- KEYS[4]  blocks: a hash of block ends by key id
-- ARGV[3]  how many keys at most    ARGV[4]  how many commands were failed since the last batch
-- Returns  {1 when all keys are revoked or else 0, revoked_keys, failed_commands, ids of the batch};
--          false when the deletion is finished
local progress = redis.call('HMGET', KEYS[3], 'deleted_at', 'after')
local deleted_at, limit = progress[1], tonumber(ARGV[3])
if not deleted_at then return false end

local after = '(' .. (progress[2] or '-inf')
local batch = redis.call('ZRANGE', KEYS[2], after, '+inf', 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES')
local ids, revoked = {}, 0
for i = 1, #batch, 2 do ids[#ids + 1] = batch[i] end
-- First, because it needs no memory: a Redis that is full refuses a script only at its first write.
if #ids > 0 then redis.call('HDEL', KEYS[4], unpack(ids)) end
local function without_tokens(record)
  local _, opened = string.find(record, '"tokens":[', 1, true)
  local closed = opened and string.find(record, ']', opened, true)
  return closed and string.sub(record, 1, opened) .. string.sub(record, closed) or record
end

-- Records are edited as text: cjson would turn empty lists into objects. Quotes inside of strings are escaped, so that
-- what is searched for can only be a field.
for _, id in ipairs(ids) do
  local record = redis.call('HGET', KEYS[1], id) or ''
  local first, last = string.find(record, '"revokedAt":null', 1, true)
  if first then
    record = string.sub(record, 1, first - 1) .. '"revokedAt":' .. deleted_at .. string.sub(record, last + 1)
    redis.call('HSET', KEYS[1], id, without_tokens(record))
    revoked = revoked + 1
  end
end
if #ids > 0 then redis.call('HSET', KEYS[3], 'after', batch[#batch]) end
local revoked_keys = redis.call('HINCRBY', KEYS[3], 'revoked_keys', revoked)
local failed_commands = redis.call('HINCRBY', KEYS[3], 'failed_commands', ARGV[4])
return { #ids < limit and 1 or 0, revoked_keys, failed_commands, ids }
