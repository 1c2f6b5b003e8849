-- KEYS[1]: the counts of one account and day. ARGV: the field, what is missing, what it is at the least, and for how
-- many seconds a new key is kept.
local value = redis.call('HGET', KEYS[1], ARGV[1]) or '0'
if not string.find(value, '^%d+$') then return redis.error_reply('SIGNPOSTCORRUPT a count is no number') end
local merged = math.max(tonumber(value) + tonumber(ARGV[2]), tonumber(ARGV[3]))
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', math.min(merged, 4294967295)))
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[4]) end
return redis.status_reply('OK')
