-- The gateway in nginx: checks the token, counts in a shared dictionary, selects sections, and answers like Gatehouse.
local gateway = {}

local LIMIT, WINDOW_SECONDS = 120, 60
local SECTIONS = {
  'Players', 'Staff', 'JoinLogs', 'Queue', 'KillLogs', 'CommandLogs', 'ModCalls', 'EmergencyCalls', 'Vehicles',
}
local INVALID_TOKEN = '{"code":5008,"message":"invalid_token"}'
local OBSOLETE = '{"code":5018,"message":"Endpoint устарел. Используйте более новую версию API."}'
local LIMITED = '{"code":5016,"message":"rate_limit_exceeded","retry_after":%d,'
  .. '"details":{"limit":%d,"count":%d,"excess":%d,"reset_at":%.0f}}'

local tokens, parts, bodies = {}, {}, {}
local loaded_at = 0
local counts = ngx.shared.counts

local function read_file(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

function gateway.load(folder)
  for token in io.lines(folder .. '/tokens.txt') do tokens['Bearer ' .. token] = true end
  parts.base = read_file(folder .. '/parts/base')
  for _, name in ipairs(SECTIONS) do parts[name] = read_file(folder .. '/parts/' .. name) end
  loaded_at = ngx.time()
end

local function find_body(args)
  local set = 0
  for i, name in ipairs(SECTIONS) do
    if args[name] == 'true' then set = set + 2 ^ (i - 1) end
  end
  local body = bodies[set]
  if body then return body end
  local text = { parts.base }
  for _, name in ipairs(SECTIONS) do
    if args[name] == 'true' then text[#text + 1] = ',"' .. name .. '":' .. parts[name] end
  end
  text[#text + 1] = '}'
  local whole = table.concat(text)
  body = { text = whole, length = #whole, etag = 'W/"' .. ngx.md5(whole):sub(1, 13) .. '"' }
  bodies[set] = body
  return body
end

local function send(status, text)
  ngx.status = status
  ngx.header['Content-Length'] = #text
  ngx.print(text)
end

local function refuse(status, text)
  local header = ngx.header
  header['Content-Type'] = 'application/json'
  header['Cache-Control'] = 'no-store'
  header['X-Content-Type-Options'] = 'nosniff'
  send(status, text)
end

local function set_limit_headers(remaining, reset_at)
  local header = ngx.header
  header['X-RateLimit-Limit'] = LIMIT
  header['X-RateLimit-Remaining'] = remaining
  header['X-RateLimit-Reset'] = math.ceil(reset_at)
  header['X-RateLimit-Bucket'] = 'server'
end

function gateway.read_server()
  local token = ngx.var.http_authorization
  if not token or not tokens[token] then
    ngx.header['WWW-Authenticate'] = 'Bearer'
    return refuse(401, INVALID_TOKEN)
  end
  local count = counts:incr(token, 1, 0, WINDOW_SECONDS)
  local left = counts:ttl(token)
  local now = ngx.now()
  local reset_at = now + left
  if count > LIMIT then
    local seconds = math.max(1, math.ceil(left))
    set_limit_headers(0, reset_at)
    ngx.header['Retry-After'] = seconds
    return refuse(429, LIMITED:format(seconds, LIMIT, count, count - LIMIT, reset_at * 1000))
  end
  local body = find_body(ngx.req.get_uri_args())
  local header = ngx.header
  header['Content-Type'] = 'application/json'
  header['Cache-Control'] = 'private, no-cache'
  header['X-Content-Type-Options'] = 'nosniff'
  header['Vary'] = 'Accept-Encoding'
  header['ETag'] = body.etag
  header['X-Cache'] = 'hit'
  header['Age'] = ngx.time() - loaded_at
  set_limit_headers(LIMIT - count, reset_at)
  if ngx.var.http_if_none_match == body.etag then
    -- Not ngx.exit(304): that would remove the ETag.
    ngx.status = 304
    ngx.send_headers()
    return
  end
  header['Content-Length'] = body.length
  ngx.print(body.text)
end

function gateway.refuse_v1()
  refuse(500, OBSOLETE)
end

return gateway
