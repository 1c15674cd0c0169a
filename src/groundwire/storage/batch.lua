local answers, at = {}, 1
local function take() at = at + 1 return ARGV[at - 1] end
local run = {
  get = function(key)
    local ends, value = take(), redis.call('GET', key)
    if not value then return false end
    return {value, redis.call('PTTL', key)}, ends == '1'
  end,
  set = function(key)
    local value, life = take(), take()
    if life == '0' then redis.call('DEL', key) else redis.call('SET', key, value, 'PX', life) end
    return 1
  end,
  count = function(key)
    local held = redis.call('GET', key)
    local total = tonumber(held or '0') or 0
    local amount, limit, ttl = tonumber(take()), tonumber(take()), take()
    if amount > 0 and limit and total + amount > limit then return {0, string.format('%.17g', total)}, true end
    total = math.max(0, total + amount)
    local text = string.format('%.17g', total)
    if held then redis.call('SET', key, text, 'KEEPTTL')
    elseif amount > 0 and ttl ~= '' then redis.call('SET', key, text, 'PX', ttl)
    elseif amount > 0 then redis.call('SET', key, text) end
    return {1, text}
  end,
  lease = function(key)
    local mine, life, owner = take(), take(), redis.call('GET', key)
    if owner and owner ~= mine then return 0, true end
    redis.call('SET', key, mine, 'PX', life)
    return 1
  end,
  release = function(key)
    if redis.call('GET', key) == take() then redis.call('DEL', key) end
    return 1
  end,
  number = function(key)
    local life, floor, most, groups = take(), tonumber(take()), tonumber(take()), tonumber(take())
    local last, numbers = math.max(tonumber(redis.call('HGET', key, 'last') or '0'), floor), {}
    for group = 1, groups do
      local found, nameless = nil, {}
      for _ = 1, tonumber(take()) do
        local name = 'n' .. take()
        local known = redis.call('HGET', key, name)
        if known then found = found or known else nameless[#nameless + 1] = name end
      end
      if not found then
        last = last + 1
        found = string.format('%d', last)
      end
      for _, name in ipairs(nameless) do redis.call('HSET', key, name, found) end
      numbers[group] = found
    end
    local digest, note = take(), take()
    local place = redis.call('HINCRBY', key, 'place', 1)
    local new = redis.call('HSET', key, 't' .. digest, string.format('%016d', place) .. note)
    redis.call('HSET', key, 'last', string.format('%d', last))
    if redis.call('HLEN', key) > 2 * most then -- some fields, as the server itself looks for expired keys
      local some = redis.call('HRANDFIELD', key, 10 + 2 * groups, 'WITHVALUES')
      for at = 1, #some, 2 do
        local kind, value = string.sub(some[at], 1, 1), some[at + 1]
        local old_name = kind == 'n' and tonumber(value) <= last - most
        local old_note = kind == 't' and tonumber(string.sub(value, 1, 16)) <= place - most
        if old_name or old_note then redis.call('HDEL', key, some[at]) end
      end
    end
    redis.call('PEXPIRE', key, life)
    return {new, numbers}
  end,
}
for index, key in ipairs(KEYS) do
  local answer, ended = run[take()](key)
  answers[index] = answer
  if ended then break end
end
return answers
