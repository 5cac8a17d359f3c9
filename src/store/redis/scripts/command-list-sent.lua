-- Lists the commands that the game may have run.
-- KEYS[1..5]  see command-queue.lua
-- ARGV[4]  the earliest sent_at     ARGV[5]  how many at most, the newest
-- Returns  {{id, text, sent_at, logged_at or false}, ...}, oldest first
end_stale_sending()
local ids = redis.call('ZREVRANGEBYSCORE', sent, '+inf', ARGV[4], 'LIMIT', 0, ARGV[5])
local commands = {}
for i = #ids, 1, -1 do
  local fields = redis.call('HMGET', name_of(ids[i]), 'text', 'sent_at', 'logged_at')
  commands[#commands + 1] = { ids[i], fields[1], fields[2], fields[3] }
end
return commands
