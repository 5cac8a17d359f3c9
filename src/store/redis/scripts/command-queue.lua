-- The common beginning of every script on the commands of one server, after the prelude.
-- KEYS[1]  queue: a list of waiting command ids, the next one first
-- KEYS[2]  sending: a hash of command_id, fence (the fencing token), lease_until, lease_ms; exists only during a claim
-- KEYS[3]  history: a sorted set of all command ids by seq, which grows with every command
-- KEYS[4]  sent: a sorted set of the ids of commands that the game may have run, by sent_at
-- KEYS[5]  pace: a hash of until, hold_ms
-- Beside the history there are sorted sets of the same ids by the same seq, so that a page of any list is one short range:
--   history:<status>                 the finished commands with this status
--   history:of:<key id>              all commands of an API key
--   history:of:<key id>:<status>     the finished commands of an API key with this status
--   history:indexed                  a string, exists when these sets are complete (an older version has not kept them)
-- Commands that wait or are being sent are found through queue and sending.
-- ARGV[3]  the prefix of a command's hash; the id follows. Only the script finds out which commands it needs, so these
--          names are not in KEYS; they have the same hash tag, so that a cluster keeps them on the same node.
-- A command's hash has key_id, text, status, seq, accepted_position, queued_at; when known sent_at, finished_at,
-- confirmed_at, logged_at, upstream_code, upstream_message; idempotency_key if the caller sent one; is_untold until the
-- receipt was given a second time: such a command may be withdrawn; text_hash, the SHA-1 of the first text, when a player was
-- taken out of the text.
local queue, sending, history, sent, pace = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- A time further ahead than its span was written before the clock was set back.
local CLOCK_SLACK_MS = 1000

local function name_of(id) return ARGV[3] .. id end

-- The server's other names have the same beginning as those of its commands.
local function name_of_other(name) return string.match(ARGV[3], '^(.*)command:$') .. name end

local function index_of(key_id, status)
  local name = history
  if key_id ~= '' then name = name .. ':of:' .. key_id end
  if status ~= '' then name = name .. ':' .. status end
  return name
end
local indexed = history .. ':indexed'

local function is_ahead(time, span_ms)
  time = tonumber(time)
  return time > now and time - now <= tonumber(span_ms) + CLOCK_SLACK_MS
end

-- Whether the command was accepted with this text.
local function has_text(id, text)
  local fields = redis.call('HMGET', name_of(id), 'text', 'text_hash')
  if fields[2] then return fields[2] == redis.sha1hex(text) end
  return fields[1] == text
end

-- Returns {id, position or '', field, value, ...}; false when there is no such command.
local function describe(id)
  local described = { id, '' }
  for _, text in ipairs(redis.call('HGETALL', name_of(id))) do described[#described + 1] = text end
  if #described == 2 then return false end
  local index = redis.call('LPOS', queue, id)
  if index then described[2] = index + 1 end
  return described
end

-- Adds a finished command to the sets of its status.
local function index_finished(id)
  local fields = redis.call('HMGET', name_of(id), 'key_id', 'status', 'seq')
  redis.call('ZADD', index_of('', fields[2]), fields[3], id)
  redis.call('ZADD', index_of(fields[1], fields[2]), fields[3], id)
end

-- Deletes a command.
local function delete(id)
  local fields = redis.call('HMGET', name_of(id), 'key_id', 'status')
  redis.call('DEL', name_of(id))
  for _, name in ipairs({ history, sent }) do redis.call('ZREM', name, id) end
  if fields[1] then
    redis.call('ZREM', index_of(fields[1], ''), id)
    redis.call('ZREM', index_of('', fields[2]), id)
    redis.call('ZREM', index_of(fields[1], fields[2]), id)
  end
  -- Else the mark would outlive a deleted server.
  if redis.call('EXISTS', history) == 0 then redis.call('DEL', indexed) end
end

-- Here and below, commands that need no memory come first: a Redis that is full refuses a script only at its first write.
local function finish_sending(id, ...)
  redis.call('DEL', sending)
  redis.call('HSET', name_of(id), 'finished_at', now, ...)
  local fields = redis.call('HMGET', name_of(id), 'status', 'sent_at')
  if fields[1] ~= 'failed' then redis.call('ZADD', sent, fields[2], id) end
  index_finished(id)
end

local function put_back(id)
  redis.call('DEL', sending)
  redis.call('HDEL', name_of(id), 'sent_at')
  redis.call('HSET', name_of(id), 'status', 'queued')
  redis.call('LPUSH', queue, id)
end

-- The key expires some time after the hold has ended.
local function hold(hold_ms)
  redis.call('HSET', pace, 'until', now + hold_ms, 'hold_ms', hold_ms)
  redis.call('PEXPIRE', pace, hold_ms + 60000)
end

-- Returns when the hold ends; nil when there is none. After the clock was set back, it lasts as long as it is, from now.
local function find_hold()
  local held = redis.call('HMGET', pace, 'until', 'hold_ms')
  local held_until, hold_ms = tonumber(held[1] or 0), tonumber(held[2] or 0)
  if held_until <= now then return nil end
  if is_ahead(held_until, hold_ms) then return held_until end
  hold(hold_ms)
  return now + hold_ms
end

-- Ends a claim whose lease is over: its holder may have died, and the result is unknown.
local function end_stale_sending()
  local kept = redis.call('HMGET', sending, 'command_id', 'lease_until', 'lease_ms')
  -- Twice the lease: waiting too long does no harm, but ending a command that is still being sent does.
  if not kept[1] or is_ahead(kept[2], 2 * kept[3]) then return end
  finish_sending(kept[1], 'status', 'unknown', 'upstream_message',
    'Gatehouse stopped while this was being sent; whether the game ran it is not known.')
end

-- Ends the waiting commands for which is_chosen is true. Returns how many.
local function end_waiting(is_chosen, ...)
  local count = 0
  for _, id in ipairs(redis.call('LRANGE', queue, 0, -1)) do
    if is_chosen(id) then
      redis.call('LREM', queue, 1, id)
      redis.call('HSET', name_of(id), 'finished_at', now, ...)
      index_finished(id)
      count = count + 1
    end
  end
  return count
end
