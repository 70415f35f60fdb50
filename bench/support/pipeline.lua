-- Requests that go out eight at a time: wrk takes less of the processors that it shares with the servers.
local text
init = function() text = string.rep(wrk.format(), 8) end
request = function() return text end
