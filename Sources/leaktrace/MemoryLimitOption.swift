// `--memory-limit`: of every command that reads a heap image.

import ArgumentParser
import TraceAnalysis

struct MemoryLimitOption: ParsableArguments {
  @Option(
    name: .customLong("memory-limit"),
    help: ArgumentHelp("How much memory a heap image may take: 8GiB, 500MB. Half of the machine's unless given.", valueName: "size"))
  var limit: MemoryLimit = .standard
}

extension MemoryLimit: ExpressibleByArgument {
  public init?(argument: String) { self.init(parsing: argument) }
  public var defaultValueDescription: String { "half of the machine's" }
}
