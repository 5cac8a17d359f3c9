-- Adds a command to the end of its queue. A command that was accepted before gets its first receipt again.
-- KEYS[1..5]  see command-queue.lua
-- KEYS[6]     optional, idempotency: a string, the id of the command that was accepted with this idempotency key, or its
--             receipt when the command was dropped (see command-history.lua)
-- KEYS[7]     with KEYS[6], receipts: a hash, how many such receipts the API key has, by the hour of their commands
-- ARGV[4]  id    ARGV[5]  key id    ARGV[6]  text
-- ARGV[7]  how many may wait        ARGV[8]  how long an idempotency key is kept, ms
-- ARGV[9]  the idempotency key itself, or empty           ARGV[10]  how many receipts an API key may have
-- ARGV[11] '1' when the same text from the same API key may be the same command, or else '0'
-- ARGV[12] how long so after it was sent, ms    ARGV[13]  how long so while it is unknown, ms
-- Returns  {'accepted', id, position, queued_at}, {'full'} or {'mismatch'}
local id, text = ARGV[4], ARGV[6]

local function receipt_of(accepted)
  local fields = redis.call('HMGET', name_of(accepted), 'accepted_position', 'queued_at')
  return { 'accepted', accepted, tonumber(fields[1]), tonumber(fields[2]) }
end

-- The connection may have delivered this request twice.
if redis.call('EXISTS', name_of(id)) == 1 then return receipt_of(id) end

local earlier = KEYS[6] and redis.call('GET', KEYS[6])
local receipt_id, receipt_position, receipt_time, receipt_hash =
  string.match(earlier or '', '^receipt (%S+) (%d+) (%d+) (%x+)$')
if receipt_id and now - tonumber(receipt_time) < tonumber(ARGV[8]) then
  if receipt_hash ~= redis.sha1hex(text) then return { 'mismatch' } end
  return { 'accepted', receipt_id, tonumber(receipt_position), tonumber(receipt_time) }
end
if earlier and not receipt_id then
  local queued_at = redis.call('HGET', name_of(earlier), 'queued_at')
  if queued_at and now - tonumber(queued_at) < tonumber(ARGV[8]) then
    if not has_text(earlier, text) then return { 'mismatch' } end
    -- Its caller has a receipt now, so the command must not be withdrawn any more.
    redis.call('HDEL', name_of(earlier), 'is_untold')
    return receipt_of(earlier)
  end
end

-- The translation of isSameCommand in core/command.ts.
local function is_text_of_key(accepted)
  return redis.call('HGET', name_of(accepted), 'key_id') == ARGV[5] and has_text(accepted, text)
end

-- They end in the order of their queue, so that all after one that ended too long ago did so too.
local function find_ended(status, within_ms)
  local name, first, step = index_of(ARGV[5], status), 0, 50
  while true do
    local ids = redis.call('ZREVRANGE', name, first, first + step - 1)
    for _, ended in ipairs(ids) do
      local finished_at = tonumber(redis.call('HGET', name_of(ended), 'finished_at') or 0)
      if math.abs(now - finished_at) >= within_ms then return nil end
      if is_text_of_key(ended) then return ended end
    end
    if #ids < step then return nil end
    first = first + step
  end
end

local function find_same()
  for _, waiting in ipairs(redis.call('LRANGE', queue, 0, -1)) do
    if is_text_of_key(waiting) then return waiting end
  end
  local current = redis.call('HGET', sending, 'command_id')
  if current and is_text_of_key(current) then return current end
  return find_ended('sent', tonumber(ARGV[12])) or find_ended('unknown', tonumber(ARGV[13]))
end

local same = ARGV[11] == '1' and find_same()
if same then
  redis.call('HDEL', name_of(same), 'is_untold')
  return receipt_of(same)
end

local position = redis.call('LLEN', queue) + 1
if position > tonumber(ARGV[7]) then return { 'full' } end
if KEYS[7] then
  local oldest_hour, receipts = math.floor((now - tonumber(ARGV[8])) / 3600000), 0
  local counts = redis.call('HGETALL', KEYS[7])
  for i = 1, #counts, 2 do
    if tonumber(counts[i]) >= oldest_hour then receipts = receipts + counts[i + 1] end
  end
  if receipts >= tonumber(ARGV[10]) then return { 'full' } end
end

-- Microseconds, so that lists over several servers are in order too; always more than the seq of the command before.
local time = redis.call('TIME')
local seq = time[1] * 1000000 + time[2]
local newest = redis.call('ZREVRANGE', history, 0, 0, 'WITHSCORES')
if newest[2] then
  seq = math.max(seq, tonumber(newest[2]) + 1)
else
  redis.call('SET', indexed, 1)
end

redis.call('HSET', name_of(id), 'key_id', ARGV[5], 'text', text, 'status', 'queued', 'seq', seq,
  'accepted_position', position, 'queued_at', now, 'is_untold', 1)
redis.call('RPUSH', queue, id)
redis.call('ZADD', history, seq, id)
redis.call('ZADD', index_of(ARGV[5], ''), seq, id)
if KEYS[6] then
  redis.call('HSET', name_of(id), 'idempotency_key', ARGV[9])
  redis.call('SET', KEYS[6], id, 'PX', ARGV[8])
end
return receipt_of(id)
