-- Judges requests by the rule of core/rate-limit.ts. Its numbers are declared before this text: LIMIT, WINDOW_MS, BLOCK_AT,
-- BLOCK_MS, EXTENSION_MS, AHEAD_MAX_MS.
-- KEYS     for each request the limit of its API key: a hash of reset_at, count, blocked_until. A key may occur repeatedly
-- ARGV[3…] for each request '1' when it counts, '0' when it counts only inside a block
-- Returns  the time, then for each request: outcome, 1 when the block changed or else 0, reset_at, count, blocked_until; as
--          one flat list, which is parsed fastest
local UNCOUNTED, ADMITTED, LIMITED, BLOCKED = 0, 1, 2, 3
local verdicts = { now }

local function judge(name, is_counted)
  local kept = redis.call('HMGET', name, 'reset_at', 'count', 'blocked_until')
  local kept_reset_at, kept_blocked_until = tonumber(kept[1] or 0), tonumber(kept[3] or 0)
  local reset_at, count, blocked_until = kept_reset_at, tonumber(kept[2] or 0), kept_blocked_until

  local function answer(outcome, changed)
    local last = #verdicts
    verdicts[last + 1], verdicts[last + 2], verdicts[last + 3] = outcome, changed, reset_at
    verdicts[last + 4], verdicts[last + 5] = count, blocked_until
  end

  local function keep()
    if reset_at == kept_reset_at and blocked_until == kept_blocked_until then
      redis.call('HINCRBY', name, 'count', 1)
      return
    end
    redis.call('HSET', name, 'reset_at', reset_at, 'count', count, 'blocked_until', blocked_until)
    redis.call('PEXPIREAT', name, math.max(reset_at, blocked_until) + WINDOW_MS)
  end

  -- A window that ends further ahead than its length was written before the clock was set back: it is over too.
  local is_over = now >= reset_at or reset_at - now > WINDOW_MS

  if blocked_until > now then
    if is_over then
      count, reset_at = 1, now + WINDOW_MS
    else
      count = count + 1
    end
    if count == LIMIT + 1 then blocked_until = blocked_until + EXTENSION_MS end
    blocked_until = math.min(blocked_until, now + AHEAD_MAX_MS)
    keep()
    return answer(BLOCKED, blocked_until ~= kept_blocked_until and 1 or 0)
  end

  if not is_counted then return answer(UNCOUNTED, 0) end

  if blocked_until ~= 0 or is_over then
    count, reset_at = 1, now + WINDOW_MS
  else
    count = count + 1
  end
  blocked_until = 0
  if count - LIMIT >= BLOCK_AT then
    reset_at, count, blocked_until = 0, 0, now + BLOCK_MS
    keep()
    return answer(BLOCKED, 1)
  end
  keep()
  return answer(count > LIMIT and LIMITED or ADMITTED, 0)
end

for index, name in ipairs(KEYS) do judge(name, ARGV[index + 2] == '1') end
return verdicts
