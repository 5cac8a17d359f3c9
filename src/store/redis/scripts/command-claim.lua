-- Claims the next command for sending, if the pace allows it and none is being sent.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  the fencing token of this claim: only its holder may record the result
-- ARGV[5]  lease, ms                ARGV[6]  hold, ms
-- ARGV[7…] fencing tokens of earlier claims of this instance that got no reply
-- Returns  {'claimed', command}, {'wait', until, queued_at of the next}, {'empty'} or {'busy'}
end_stale_sending()

local current = redis.call('HMGET', sending, 'command_id', 'fence')
if current[1] then
  -- The connection may have delivered this request twice.
  if current[2] == ARGV[4] then return { 'claimed', describe(current[1]) } end
  local is_unanswered = false
  for i = 7, #ARGV do is_unanswered = is_unanswered or ARGV[i] == current[2] end
  if not is_unanswered then return { 'busy' } end
  -- The instance never learned that it held this command, so it has not sent it.
  put_back(current[1])
end

local head = redis.call('LINDEX', queue, 0)
if not head then return { 'empty' } end

local held_until = find_hold()
if held_until then
  return { 'wait', held_until, tonumber(redis.call('HGET', name_of(head), 'queued_at')) }
end

local lease_ms = tonumber(ARGV[5])
redis.call('LPOP', queue)
redis.call('HSET', sending, 'command_id', head, 'fence', ARGV[4], 'lease_until', now + lease_ms, 'lease_ms', lease_ms)
redis.call('HSET', name_of(head), 'status', 'sending', 'sent_at', now)
hold(tonumber(ARGV[6]))
return { 'claimed', describe(head) }
