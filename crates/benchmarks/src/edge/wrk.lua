-- Requests the paths of a file with one path a line, from the line `BENCH_FROM` on. Each request is formatted only once, to
-- keep the load cheap. `BENCH_THINK_MS` is the mean time between an answer and the next request.
local requests, count = {}, 0
local position = tonumber(os.getenv("BENCH_FROM"))
local think = tonumber(os.getenv("BENCH_THINK_MS"))

function init()
  wrk.headers["Host"] = os.getenv("BENCH_HOST")
  wrk.headers["User-Agent"] = os.getenv("BENCH_USER_AGENT")
  if os.getenv("BENCH_CLOSE") == "1" then wrk.headers["Connection"] = "close" end
  local made = {}
  for path in io.lines(os.getenv("BENCH_PATHS")) do
    count = count + 1
    made[path] = made[path] or wrk.format("GET", path)
    requests[count] = made[path]
  end
end

function request()
  position = position + 1
  return requests[position % count + 1]
end

if think > 0 then
  math.randomseed(os.time())
  function delay() return math.floor(think * (0.5 + math.random())) end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %d %d %d %d %d\n", summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(50), latency:percentile(99),
    latency:percentile(99.9)))
end
