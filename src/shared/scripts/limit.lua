-- Judges requests by the rule of core/rate-limit.ts. Its numbers are declared before this text: LIMIT, WINDOW_MS, BLOCK_AT,
-- BLOCK_MS, EXTENSION_MS, AHEAD_MAX_MS, TOLERANCE_MS; and RECENT_MS.
-- KEYS[1]  directory (see announce.lua)
-- KEYS[2…] for each request the window of its API key: a hash of reset_at, count, blocked_until, changed_at (of the block) and
--          lifted_at. An API key may occur repeatedly
-- ARGV[2]  the version of the directory that the instance knows
-- ARGV[3]  1 when these requests are judged again: a block has counted them already, or else 0
-- ARGV[4…] for each request three numbers: 1 when it counts, 0 when it counts only inside a block; when the block of its API key
--          ends as far as the instance knows, or 0; and 1 when that block is not in the database yet, or else 0
-- Returns  the time, the newest version, then for each request: outcome, what happened to the block, reset_at, count,
--          blocked_until; as one flat list, which is parsed fastest
local UNCOUNTED, ADMITTED, LIMITED, BLOCKED = 0, 1, 2, 3
-- UNKNOWN: the instance does not know a block that began or was extended a moment ago; it may not have been saved.
local SAME, CHANGED, UNKNOWN = 0, 1, 2
local version, own_version, is_repeat = read_version(KEYS[1]), tonumber(ARGV[2]), ARGV[3] == '1'
-- This Redis was emptied, or away, or is of yesterday.
if version < own_version then
  version = own_version
  redis.call('HSET', KEYS[1], 'version', version, 'since', now)
end
local verdicts = { now, version }

local function read_window(name)
  local kept = redis.pcall('HMGET', name, 'reset_at', 'count', 'blocked_until')
  if kept.err then
    redis.call('DEL', name)
    kept = {}
  end
  return tonumber(kept[1]) or 0, tonumber(kept[2]) or 0, tonumber(kept[3]) or 0
end

local function read_time(name, field)
  return tonumber(redis.call('HGET', name, field)) or 0
end

-- Whether the time in this field of a window is of the last seconds.
local function is_recent(name, field)
  return math.abs(now - read_time(name, field)) < RECENT_MS
end

-- False when the clock was set back since: then the order of times says nothing.
local function is_before(time, later)
  return time < later and later <= now
end

local function judge(name, is_counted, known_block, is_unsaved)
  local kept_reset_at, count, kept_blocked_until = read_window(name)
  local reset_at, blocked_until = kept_reset_at, kept_blocked_until

  local function answer(outcome, block)
    local last = #verdicts
    verdicts[last + 1], verdicts[last + 2], verdicts[last + 3] = outcome, block, reset_at
    verdicts[last + 4], verdicts[last + 5] = count, blocked_until
  end

  local function keep()
    if reset_at == kept_reset_at and blocked_until == kept_blocked_until then
      redis.call('HSET', name, 'count', count)
      return
    end
    redis.call('HSET', name, 'reset_at', reset_at, 'count', count, 'blocked_until', blocked_until)
    redis.call('PEXPIREAT', name, math.max(reset_at, blocked_until) + WINDOW_MS)
  end

  -- The database has the last word about blocks. But the instance may not know yet that one was lifted …
  if known_block > 0 and is_recent(name, 'lifted_at') then known_block = 0 end
  if known_block > now and known_block > blocked_until then
    if blocked_until <= now then reset_at, count = 0, 0 end
    blocked_until = known_block
    -- The other instances cannot know it.
    if is_unsaved then redis.call('HSET', name, 'changed_at', now) end
  -- … or that one has begun here.
  elseif blocked_until > now and blocked_until > known_block and version == own_version
    and is_before(read_time(name, 'changed_at'), read_time(KEYS[1], 'since')) then
    blocked_until = known_block > now and known_block or 0
    if blocked_until == 0 then reset_at, count = 0, 0 end
  end

  -- A window that ends much further ahead than its length was written before the clock was set back: it is over too.
  local is_over = now >= reset_at or reset_at - now > WINDOW_MS + TOLERANCE_MS

  if blocked_until > now then
    local before = blocked_until
    if not is_repeat then
      if is_over then
        count, reset_at = 1, now + WINDOW_MS
      else
        count = count + 1
      end
      if count == LIMIT + 1 then blocked_until = blocked_until + EXTENSION_MS end
    end
    blocked_until = math.min(blocked_until, now + AHEAD_MAX_MS)
    local block = SAME
    if blocked_until ~= before then
      block = CHANGED
      redis.call('HSET', name, 'changed_at', now)
    elseif blocked_until > known_block and is_recent(name, 'changed_at') then
      block = UNKNOWN
    end
    keep()
    return answer(BLOCKED, block)
  end

  if not is_counted then return answer(UNCOUNTED, SAME) end

  if blocked_until ~= 0 or is_over then
    count, reset_at = 1, now + WINDOW_MS
  else
    count = count + 1
  end
  blocked_until = 0
  if count - LIMIT >= BLOCK_AT then
    reset_at, count, blocked_until = 0, 0, now + BLOCK_MS
    redis.call('HSET', name, 'changed_at', now)
    keep()
    return answer(BLOCKED, CHANGED)
  end
  keep()
  return answer(count > LIMIT and LIMITED or ADMITTED, SAME)
end

for index = 2, #KEYS do
  local first = index * 3 - 2
  judge(KEYS[index], ARGV[first] == '1', tonumber(ARGV[first + 1]), ARGV[first + 2] == '1')
end
return verdicts
