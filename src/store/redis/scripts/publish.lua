-- Publishes what an instance knows about a server.
-- KEYS[1]  lease   KEYS[2]  shared   (see consult.lua)
-- ARGV[3]  the token of the lease, which is released; empty to publish without a lease
-- ARGV[4]  status (JSON)   ARGV[5]  reading (JSON), or empty to keep the last one
-- ARGV[6]  how long it is kept, ms; a refused key is kept until the server gets another key or is deleted
-- Returns  the new version; 0 when nothing was published: the lease was lost, the server has a newer key, or the others
--          remember a failure that an instance without a lease does not know of
if ARGV[3] ~= '' then
  if redis.call('GET', KEYS[1]) ~= ARGV[3] then return 0 end
  redis.call('DEL', KEYS[1])
end
local status = cjson.decode(ARGV[4])
local old = redis.call('HGET', KEYS[2], 'standing')
old = old and cjson.decode(old)
-- A result of an older key says nothing about the current one.
if old and old.keyRevision > status.keyRevision then return 0 end
-- An instance without a lease may know less than the others: a refused key stays refused. The texts are signed, so they are
-- not mixed here.
local function is_remembered(failure)
  return failure ~= cjson.null and (failure.forMs == cjson.null or failure.at + failure.forMs > now)
end
local is_same_key = old and old.keyRevision == status.keyRevision
if ARGV[3] == '' and is_same_key and status.remembered == cjson.null and is_remembered(old.remembered) then
  return 0
end
local version = redis.call('HINCRBY', KEYS[2], 'version', 1)
redis.call('HSET', KEYS[2], 'standing', ARGV[4])
if ARGV[5] ~= '' then redis.call('HSET', KEYS[2], 'reading', ARGV[5]) end
local is_refused = status.remembered ~= cjson.null and status.remembered.forMs == cjson.null
if is_refused then
  -- Readings made with a refused key are not shown any more.
  redis.call('HDEL', KEYS[2], 'reading')
  redis.call('PERSIST', KEYS[2])
else
  redis.call('PEXPIRE', KEYS[2], ARGV[6])
end
return version
