// Options that say whose code is whose, and how much of a library's code is shown.

import ArgumentParser
import TraceAnalysis

/// Separates the program's own code from the code of libraries.
struct OwnModulesOption: ParsableArguments {
  static let help = ArgumentHelp(
    "Treat only this Swift module as your own code. Repeatable (default: every module outside the package manager's checkouts).",
    valueName: "module")

  @Option(help: Self.help)
  var own: [String] = []

  var modules: Set<String> { Set(own) }
}

/// Options for paths to objects.
struct PathOptions: ParsableArguments {
  @Flag(help: "Show every object of a path, also those of libraries in between.")
  var fullPaths = false

  var style: TextStyle.Paths { fullPaths ? .full : .folded }
}
