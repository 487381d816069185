// `--memory-limit` and `--untrusted`, options of every command that reads a trace.

import ArgumentParser
import TraceAnalysis

struct ReadingOptions: ParsableArguments {
  @Option(
    name: .customLong("memory-limit"),
    help: ArgumentHelp("Most memory for reading a trace, such as 8GiB or 500MB.", valueName: "size"))
  var memoryLimit: MemoryLimit = .standard

  @Flag(
    help: ArgumentHelp(
      "Treat the trace as a stranger's: refuse data that asks for far more work than the file's size suggests. Exit status 6 says that some was refused."
    ))
  var untrusted = false

  /// The reading stops if the user interrupts it while `ReadingInterrupt` watches.
  var policy: ReadingPolicy {
    ReadingPolicy(
      isUntrusted: untrusted, memoryLimit: memoryLimit, isInterrupted: { ReadingInterrupt.hasHappened })
  }
}

extension MemoryLimit: ExpressibleByArgument {
  public init?(argument: String) { self.init(parsing: argument) }
  public var defaultValueDescription: String { "three quarters of the available memory" }
}
