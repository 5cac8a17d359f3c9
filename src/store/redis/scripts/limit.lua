-- Judges one request of a key: the rule of core/rate-limit.ts, as one indivisible step.
-- KEYS[1]  the key's limit: a hash of reset_at, count, blocked_until
-- ARGV[3]  '1' when the request counts, '0' when it does only inside a block
-- ARGV[4]  requests a window        ARGV[5]  window, ms
-- ARGV[6]  excess that blocks       ARGV[7]  block, ms
-- ARGV[8]  extension, ms            ARGV[9]  furthest end of a block, ms ahead
-- Returns  {outcome, now, block changed (1 or 0), reset_at, count, blocked_until}
local limit, window_ms = tonumber(ARGV[4]), tonumber(ARGV[5])
local block_at, block_ms = tonumber(ARGV[6]), tonumber(ARGV[7])
local extension_ms, ahead_max_ms = tonumber(ARGV[8]), tonumber(ARGV[9])

local kept = redis.call('HMGET', KEYS[1], 'reset_at', 'count', 'blocked_until')
local reset_at, count = tonumber(kept[1] or 0), tonumber(kept[2] or 0)
local blocked_until = tonumber(kept[3] or 0)

local function answer(outcome, changed)
  return { outcome, now, changed, reset_at, count, blocked_until }
end

local function keep()
  redis.call('HSET', KEYS[1], 'reset_at', reset_at, 'count', count, 'blocked_until', blocked_until)
  redis.call('PEXPIREAT', KEYS[1], math.max(reset_at, blocked_until) + window_ms)
end

-- A window further ahead than its length means that the clock was set back; it is over too.
local is_over = now >= reset_at or reset_at - now > window_ms

if blocked_until > now then
  if is_over then
    count, reset_at = 1, now + window_ms
  else
    count = count + 1
  end
  local before = blocked_until
  if count == limit + 1 then blocked_until = blocked_until + extension_ms end
  blocked_until = math.min(blocked_until, now + ahead_max_ms)
  keep()
  return answer('blocked', blocked_until ~= before and 1 or 0)
end

if ARGV[3] == '0' then return answer('uncounted', 0) end

if blocked_until ~= 0 or is_over then
  count, reset_at = 1, now + window_ms
else
  count = count + 1
end
blocked_until = 0
if count - limit >= block_at then
  reset_at, count, blocked_until = 0, 0, now + block_ms
  keep()
  return answer('blocked', 1)
end
keep()
return answer(count > limit and 'limited' or 'admitted', 0)
