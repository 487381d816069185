// The options for the places of the program's files and of debug files.

import ArgumentParser
import TraceAnalysis

/// Options of every command that looks up names.
struct DebugFileOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Also look for debug files in this directory.", valueName: "directory"), completion: .directory)
  var debugPath: [String] = []

  @Option(
    help: ArgumentHelp("Look for the program's files below this directory.", valueName: "directory"),
    completion: .directory)
  var sysroot: String?

  var search: DebugFileSearch { DebugFileSearch(debugPaths: debugPath, sysroot: sysroot) }
}
