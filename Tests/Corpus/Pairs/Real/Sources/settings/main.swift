// Reads settings, changes one, and writes them, as often as an application that saves on every change.

import TOMLKit

let text = """
  port = 6789
  bind_address = "*"
  log_level = "debug"

  [limits]
  clients = 100
  timeout = 2.5
  """

@inline(never) func read(_ text: String) throws -> TOMLTable { try TOMLTable(string: text) }

@inline(never) func write(_ settings: TOMLTable) -> Int {
  settings.convert(to: .toml).utf8.count + settings.convert(to: .json).utf8.count
}

var written = 0
for port in 0..<50 {
  let settings = try read(text)
  settings["port"] = port + 1024
  written += write(settings)
}
print(written)
