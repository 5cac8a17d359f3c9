-- Tells that an instance lives, and tells it what has changed since it last asked.
-- KEYS[1]  instances: a sorted set by the time of their last sign
-- KEYS[2]  version   KEYS[3]  changes   (see change.lua)
-- ARGV[3]  the instance   ARGV[4]  how long a sign counts, ms   ARGV[5]  the version it knows   ARGV[6]  versions kept
-- ARGV[7]  the id of the change that made that version
-- Returns  {now, instances, version, id of its change, ids changed since, or false when too much was missed}
redis.call('ZADD', KEYS[1], now, ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[4]))
local instances = redis.call('ZCARD', KEYS[1])
local version, known = tonumber(redis.call('GET', KEYS[2]) or 0), tonumber(ARGV[5])

local function change_id_of(number)
  local member = redis.call('ZRANGEBYSCORE', KEYS[3], number, number, 'LIMIT', 0, 1)[1]
  return member and string.match(member, '^%d+ (%S+) ') or ''
end

-- A Redis that has lost its last changes counts the same versions again, for other changes.
local is_other_history = known > 0 and change_id_of(known) ~= ARGV[7]
local ids = {}
if version < known or version - known >= tonumber(ARGV[6]) or is_other_history then
  ids = false
elseif version > known then
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], known + 1, '+inf')) do
    ids[#ids + 1] = string.match(member, '^%d+ %S+ (.*)$')
  end
end
return { now, instances, version, change_id_of(version), ids }
