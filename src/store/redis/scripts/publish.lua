-- Tells the instances what is known of a server.
-- KEYS[1]  lease   KEYS[2]  shared   (see consult.lua)
-- ARGV[3]  the token of the lease, which is given back; empty to tell without one
-- ARGV[4]  standing, JSON   ARGV[5]  reading, JSON, or empty to leave it   ARGV[6]  how long it is kept, ms
-- Returns  1, or 0 when the lease was lost: then nothing was told
if ARGV[3] ~= '' then
  if redis.call('GET', KEYS[1]) ~= ARGV[3] then return 0 end
  redis.call('DEL', KEYS[1])
end
local standing = ARGV[4]
if ARGV[3] == '' then
  -- Who tells without a lease may know less than the others: a refused key stays refused.
  local old = redis.call('HGET', KEYS[2], 'standing')
  if old then
    old, standing = cjson.decode(old), cjson.decode(standing)
    local is_same_key = old.keyRevision == standing.keyRevision
    if is_same_key and standing.remembered == cjson.null then standing.remembered = old.remembered end
    standing = cjson.encode(standing)
  end
end
redis.call('HINCRBY', KEYS[2], 'version', 1)
redis.call('HSET', KEYS[2], 'standing', standing)
if ARGV[5] ~= '' then redis.call('HSET', KEYS[2], 'reading', ARGV[5]) end
redis.call('PEXPIRE', KEYS[2], ARGV[6])
return 1
