// `--hold`, an option of every command that reads a process from outside.

import ArgumentParser

struct HoldOption: ParsableArguments {
  @Flag(help: "Stop the process while it is read, and make no copy of it.")
  var hold = false
}
