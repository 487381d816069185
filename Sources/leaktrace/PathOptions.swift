// Options that say which code is the program's own, and how much of the libraries' code is shown.

import ArgumentParser
import TraceAnalysis

/// The option that separates the program's own code from library code.
struct OwnModulesOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Treat only this Swift module as your own code. Repeatable (default: every module outside the package manager's checkouts).",
      valueName: "module"))
  var own: [String] = []

  var modules: Set<String> { Set(own) }
}

/// Options for paths to objects.
struct PathOptions: ParsableArguments {
  @Flag(help: "Show every object of a path, including library objects in between.")
  var fullPaths = false

  var style: TextStyle.Paths { fullPaths ? .full : .folded }
}
