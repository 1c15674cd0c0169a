"""The Lua scripts of the Valkey store; the server runs each in one step (https://valkey.io/topics/eval-intro/)."""

from __future__ import annotations

__all__ = ["COUNT", "GET", "LEASE", "PACE", "RELEASE"]

GET = """
local value = redis.call('GET', KEYS[1])
if not value then return false end
return {value, redis.call('PTTL', KEYS[1])}
"""

COUNT = """
local held = redis.call('GET', KEYS[1])
local total = tonumber(held or '0')
local amount, limit, ttl = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if amount > 0 and limit and total + amount > limit then return {0, string.format('%.17g', total)} end
total = math.max(0, total + amount)
local text = string.format('%.17g', total)
if held then redis.call('SET', KEYS[1], text, 'KEEPTTL')
elseif amount > 0 and ttl then redis.call('SET', KEYS[1], text, 'PX', ARGV[3])
elseif amount > 0 then redis.call('SET', KEYS[1], text) end
return {1, text}
"""

# Microseconds since the epoch are whole numbers below 2^53, so nothing is lost in Lua's floating point.
PACE = """
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local interval, burst, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
local wait = math.max(0, arrival - (burst - 1) * interval - now)
if most and wait > most then
  return {0, string.format('%.0f', wait), string.format('%.0f', arrival - now)}
end
arrival = arrival + interval
if arrival > now then
  redis.call('SET', KEYS[1], string.format('%.0f', arrival), 'PX', math.ceil((arrival - now) / 1000))
end
return {1, string.format('%.0f', wait), string.format('%.0f', arrival - now)}
"""

LEASE = """
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""

RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
"""
