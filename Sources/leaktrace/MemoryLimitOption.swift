// `--memory-limit`, an option of every command that reads a heap image.

import ArgumentParser
import TraceAnalysis

struct MemoryLimitOption: ParsableArguments {
  @Option(
    name: .customLong("memory-limit"),
    help: ArgumentHelp("Most memory to read a heap image into, such as 8GiB or 500MB.", valueName: "size"))
  var limit: MemoryLimit = .standard
}

extension MemoryLimit: ExpressibleByArgument {
  public init?(argument: String) { self.init(parsing: argument) }
  public var defaultValueDescription: String { "half of the machine's memory" }
}
