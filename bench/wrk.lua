-- Sends requests with the tokens of a file in turn, and prints the result as one line of JSON.
-- Arguments: file, first token (from 0), number of tokens, how many of these to skip at first, If-None-Match or "-"
local requests, sent = {}, 0

function init(args)
  local path, first, count, etag = args[1], tonumber(args[2]), tonumber(args[3]), args[5]
  sent = tonumber(args[4])
  local line = 0
  for token in io.lines(path) do
    if line >= first and line < first + count then
      local headers = { Authorization = 'Bearer ' .. token }
      if etag ~= '-' then headers['If-None-Match'] = etag end
      requests[#requests + 1] = wrk.format('GET', nil, headers)
    end
    line = line + 1
  end
end

function request()
  sent = sent % #requests + 1
  return requests[sent]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"seconds":%.6f,"p50Ms":%.4f,"p99Ms":%.4f,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
