-- Takes the next command for sending, if the pace allows it and nobody else is sending.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  the fence of this claim: only who knows it may record how sending went
-- ARGV[5]  lease, ms                ARGV[6]  hold, ms
-- ARGV[7..] fences of the claimer's earlier claims that it got no answer to
-- Returns  {'claimed', command}, {'wait', until, head's queued_at}, {'empty'} or {'busy'}
end_stale_sending()

local current = redis.call('HMGET', sending, 'command_id', 'fence')
if current[1] then
  -- The line may have brought the same question twice.
  if current[2] == ARGV[4] then return { 'claimed', describe(current[1]) } end
  local is_unheard = false
  for i = 7, #ARGV do is_unheard = is_unheard or ARGV[i] == current[2] end
  if not is_unheard then return { 'busy' } end
  -- It never learned that it had this one, so it has not sent it.
  put_back(current[1])
end

local head = redis.call('LINDEX', queue, 0)
if not head then return { 'empty' } end

local held = redis.call('HMGET', pace, 'until', 'hold_ms')
if held[1] and is_ahead(held[1], held[2]) then
  return { 'wait', tonumber(held[1]), tonumber(redis.call('HGET', name_of(head), 'queued_at')) }
end

local lease_ms = tonumber(ARGV[5])
redis.call('LPOP', queue)
redis.call('HSET', sending, 'command_id', head, 'fence', ARGV[4], 'lease_until', now + lease_ms, 'lease_ms', lease_ms)
redis.call('HSET', name_of(head), 'status', 'sending', 'sent_at', now)
hold(tonumber(ARGV[6]))
return { 'claimed', describe(head) }
