-- Works with a coroutine, a child and a file, for SITUATION_SECONDS and once at least.
local first, seconds = os.time(), tonumber(os.getenv('SITUATION_SECONDS') or '0')
local size, said
repeat
  local words = {}
  local maker = coroutine.wrap(function()
    for i = 1, 2000 do coroutine.yield(string.rep(tostring(i), 10)) end
  end)
  size = 0
  for word in maker do
    words[#words + 1] = { word = word }
    size = size + #word
  end
  local child = io.popen('echo from a child')
  said = child:read('a')
  child:close()
until os.time() - first >= seconds
local file = io.open('written', 'w')
file:write('written\n')
file:close()
io.write(size, ' ', said)
os.exit(7, true)
