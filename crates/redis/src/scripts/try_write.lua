-- KEYS[1]: a key that is lost together with the counts. ARGV: a name for the counts if they have none. Always writes.
-- Returns the name, and the time if this user may run TIME.
local name = redis.call('HGET', KEYS[1], 'name')
if not name or #name ~= 32 or string.find(name, '%X') then name = ARGV[1] end
redis.call('HSET', KEYS[1], 'name', name)
local time = redis.pcall('TIME')
if time.err then return { name } end
return { name, time[1], time[2] }
