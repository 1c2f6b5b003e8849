-- KEYS[1]: the counts of one account and day. ARGV: the field of the minute, the budget of the minute, the budget of the
-- day, and the lifetime of a new key in seconds. Returns the counts before this request.
local function count(value)
  if not value then return 0 end
  if string.find(value, '^%d+$') then return tonumber(value) end
end
local values = redis.call('HMGET', KEYS[1], ARGV[1], 'day')
local minute, day = count(values[1]), count(values[2])
if not minute or not day then return redis.error_reply('SIGNPOSTCORRUPT a count is no number') end
if minute < tonumber(ARGV[2]) and day < tonumber(ARGV[3]) then
  redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  if redis.call('HINCRBY', KEYS[1], 'day', 1) == 1 then redis.call('EXPIRE', KEYS[1], ARGV[4]) end
end
return { minute, day }
