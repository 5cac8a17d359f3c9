-- Publishes what an instance knows about a server.
-- KEYS[1]  lease   KEYS[2]  known   (see consult.lua)
-- ARGV[2]  the token of the lease, which is released; empty to publish without a lease
-- ARGV[3]  status   ARGV[4]  reading, or empty to keep the last one   ARGV[5]  how long it is kept, ms
-- Returns  the new version; 0 when nothing was published: the lease was lost, the server has a newer key, or the others
--          remember a failure that an instance without a lease does not know of
if ARGV[2] ~= '' then
  if redis.call('GET', KEYS[1]) ~= ARGV[2] then return 0 end
  redis.call('DEL', KEYS[1])
end
-- A signature of 43 characters and a dot come before the JSON.
local function parse(signed)
  local is_parsed, status = pcall(cjson.decode, string.sub(signed or '', 45))
  return is_parsed and type(status) == 'table' and status.keyRevision and status or nil
end
local status, old = parse(ARGV[3]), parse(redis.call('HGET', KEYS[2], 'status'))
-- A result of an older key says nothing about the current one.
if old and old.keyRevision > status.keyRevision then return 0 end
-- An instance without a lease may know less than the others: a refused key stays refused.
local function is_remembered(failure)
  return failure ~= cjson.null and (failure.forMs == cjson.null or failure.at + failure.forMs > now)
end
local is_same_key = old and old.keyRevision == status.keyRevision
if ARGV[2] == '' and is_same_key and status.remembered == cjson.null and is_remembered(old.remembered) then
  return 0
end
local version = redis.call('HINCRBY', KEYS[2], 'version', 1)
redis.call('HSET', KEYS[2], 'status', ARGV[3])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[2], 'reading', ARGV[4]) end
-- Readings made with a refused key are not shown any more.
if status.remembered ~= cjson.null and status.remembered.forMs == cjson.null then
  redis.call('HDEL', KEYS[2], 'reading')
end
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return version
