-- KEYS[1]: a key that is lost when the counts are. ARGV: a name for the counts if they have none. Writes in any case,
-- and answers with the name, and with the clock where this user may ask for it.
local name = redis.call('HGET', KEYS[1], 'name')
if not name or #name ~= 32 or string.find(name, '%X') then name = ARGV[1] end
redis.call('HSET', KEYS[1], 'name', name)
local time = redis.pcall('TIME')
if time.err then return { name } end
return { name, time[1], time[2] }
