-- Reports the work that waits for a server.
-- KEYS[1..5]  see command-queue.lua
-- KEYS[6]     outbox   (see command-cancel.lua)
-- Returns  {how many wait, queued_at of the next or false, 1 while one is being sent or else 0, how many entries the
--          outbox has}
end_stale_sending()
local head = redis.call('LINDEX', queue, 0)
return {
  redis.call('LLEN', queue),
  head and tonumber(redis.call('HGET', name_of(head), 'queued_at')),
  redis.call('EXISTS', sending),
  redis.call('HLEN', KEYS[6]),
}
