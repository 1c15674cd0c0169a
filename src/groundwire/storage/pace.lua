local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local interval, burst, most, longest = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or '0') or 0, now)
if most and arrival > now + burst * interval + math.max(most, longest) then arrival = now end
local wait = math.max(0, arrival - (burst - 1) * interval - now)
if most and wait > most then return {0, string.format('%.0f', wait)} end
arrival = arrival + interval
if arrival > now then
  redis.call('SET', KEYS[1], string.format('%.0f', arrival), 'PX', math.ceil((arrival - now) / 1000))
end
return {1, string.format('%.0f', wait)}
