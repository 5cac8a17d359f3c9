-- For scripts that finish commands, after command-queue.lua: keeps the history within its limits. IDEMPOTENCY_KEPT_MS is
-- defined before it, from core.
local HOUR_MS = 3600000

-- The answer for the idempotency key of a command that is dropped: 'receipt', id, position, queued_at, SHA-1 of the text.
local function keep_receipt(id, fields)
  local key_id, idempotency_key, text, position, queued_at = unpack(fields)
  local hash = fields[7] or redis.sha1hex(text)
  local left_ms = queued_at + IDEMPOTENCY_KEPT_MS - now
  if not idempotency_key or left_ms <= 0 then return end
  local receipt = table.concat({ 'receipt', id, position, queued_at, hash }, ' ')
  redis.call('SET', name_of_other('idempotency:' .. key_id .. ':' .. idempotency_key), receipt, 'PX', left_ms)
  local counts = name_of_other('receipts:' .. key_id)
  redis.call('HINCRBY', counts, math.floor(queued_at / HOUR_MS), 1)
  redis.call('PEXPIRE', counts, IDEMPOTENCY_KEPT_MS + HOUR_MS)
  local oldest_hour = math.floor((now - IDEMPOTENCY_KEPT_MS) / HOUR_MS)
  for _, hour in ipairs(redis.call('HKEYS', counts)) do
    if tonumber(hour) < oldest_hour then redis.call('HDEL', counts, hour) end
  end
end

-- Returns 0 for a command that is not finished, or else 1.
local function drop(id, name)
  local fields = redis.call('HMGET', name_of(id), 'key_id', 'idempotency_key', 'text', 'accepted_position',
    'queued_at', 'finished_at', 'text_hash')
  if fields[1] and not fields[6] then return 0 end
  delete(id)
  -- An older version may have deleted the command without this.
  redis.call('ZREM', name, id)
  if fields[1] then keep_receipt(id, fields) end
  return 1
end

-- Drops the oldest finished commands beyond the limits, at most max. Returns how many.
local function drop_oldest(finished_max, cancelled_max, max)
  local dropped = 0
  local name = index_of('', 'cancelled')
  local cancelled = math.min(redis.call('ZCARD', name) - cancelled_max, max)
  if cancelled > 0 then
    for _, id in ipairs(redis.call('ZRANGE', name, 0, cancelled - 1)) do dropped = dropped + drop(id, name) end
  end
  local unfinished = redis.call('LLEN', queue) + redis.call('EXISTS', sending)
  local finished = math.min(redis.call('ZCARD', history) - unfinished - finished_max, max - dropped)
  if finished > 0 then
    for _, id in ipairs(redis.call('ZRANGE', history, 0, finished + unfinished - 1)) do
      if finished == 0 then break end
      local one = drop(id, history)
      finished, dropped = finished - one, dropped + one
    end
  end
  return dropped
end
