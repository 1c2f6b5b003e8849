-- KEYS[1]: the counts of one account and day. ARGV: the field; the field with the merged part of this process' count; what
-- the process admitted alone; how much of it is confirmed as merged; the highest count known here; and the lifetime of a new
-- key in seconds. Returns the new count.
local function number(value)
  if not value then return 0 end
  if string.find(value, '^%d+$') then return tonumber(value) end
end
local values = redis.call('HMGET', KEYS[1], ARGV[1], ARGV[2])
local count, taken_in = number(values[1]), number(values[2])
if not count or not taken_in then return redis.error_reply('SIGNPOSTCORRUPT a count is no number') end
local alone = tonumber(ARGV[3])
local new = math.max(alone - math.max(taken_in, tonumber(ARGV[4])), 0)
count = math.min(math.max(count, tonumber(ARGV[5])) + new, 4294967295)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', count))
if new > 0 then redis.call('HSET', KEYS[1], ARGV[2], ARGV[3]) end
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[6]) end
return count
