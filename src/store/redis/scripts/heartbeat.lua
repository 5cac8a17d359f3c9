-- Lists what has changed in the directory, and records an instance's sign of life.
-- KEYS[1]  instances: a sorted set of instance ids by the time of their last sign of life
-- KEYS[2]  version   KEYS[3]  changes   (see change.lua)
-- ARGV[3]  instance id, or empty to give no sign of life: then nothing is written
-- ARGV[4]  how long a sign of life counts, ms
-- ARGV[5]  the version that the instance knows    ARGV[6]  the id of the change that made that version
-- ARGV[7]  how many versions of changes are kept  ARGV[8]  how many changed ids to list, about
-- Returns  {now, how many instances, version, id of the change that made it, ids changed up to that version, 1 when there
--          are later changes or else 0}; false instead of the ids when the changes since the known version are not kept
if ARGV[3] ~= '' then
  redis.call('ZADD', KEYS[1], now, ARGV[3])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[4]))
end
local instances = redis.call('ZCARD', KEYS[1])
local newest, known, limit = tonumber(redis.call('GET', KEYS[2]) or 0), tonumber(ARGV[5]), tonumber(ARGV[8])

local function change_id_of(version)
  local member = redis.call('ZRANGEBYSCORE', KEYS[3], version, version, 'LIMIT', 0, 1)[1]
  return member and string.match(member, '^%d+ (%S+) ') or ''
end

-- A Redis that has lost its last changes counts the same versions again, for other changes.
local is_other_history = known > 0 and change_id_of(known) ~= ARGV[6]
if newest < known or newest - known >= tonumber(ARGV[7]) or is_other_history then
  return { now, instances, newest, change_id_of(newest), false, 0 }
end

local reached, ids = newest, {}
if newest > known then
  local members = redis.call('ZRANGEBYSCORE', KEYS[3], known + 1, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
  if #members == 2 * limit then
    -- The ids of the last version may be cut off. A version is listed as a whole, however many ids it has.
    local last = tonumber(members[#members])
    reached = math.max(last - 1, known + 1)
    members = redis.call('ZRANGEBYSCORE', KEYS[3], known + 1, reached, 'WITHSCORES')
  end
  for i = 1, #members, 2 do ids[#ids + 1] = string.match(members[i], '^%d+ %S+ (.*)$') end
end
return { now, instances, reached, change_id_of(reached), ids, reached < newest and 1 or 0 }
