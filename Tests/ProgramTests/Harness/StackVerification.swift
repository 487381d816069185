// The checking mode of the whole suite. With LEAKTRACE_TEST_VERIFY_STACKS=1, tests record with --verify-stacks, and a
// recorded stack that differs from a fresh unwind fails the test. An event then takes some microseconds, and a recorded
// program takes many times as long as usual.

import Foundation
import TraceReading
@testable import TraceRecording

enum StackVerification {
  static let isOn = getenv("LEAKTRACE_TEST_VERIFY_STACKS").map { !["", "0"].contains(String(cString: $0)) } ?? false

  /// The factor for time limits.
  static let patience = 20.0

  /// Adds the option to each `leaktrace record` and `leaktrace check` in the command, and to a recorder that the
  /// environment preloads. Package managers are not changed: with verification, each compiler that they start would be
  /// verified, which would take hours.
  static func adjusted(_ command: Command) -> Command {
    var result = command
    for index in command.arguments.indices.reversed()
    where recordsAt(index, command.arguments) && !runsPackageManager(command.arguments[index...]) {
      result.arguments.insert("--verify-stacks", at: index + 2)
    }
    result.timeLimit *= patience
    if preloads(command) { result.environment["LEAKTRACE_VERIFY_STACKS"] = "1" }
    return result
  }

  /// Describes stacks that a finished command recorded wrongly. Returns nil if all stacks were right, or if the command
  /// recorded nothing.
  static func failure(of command: Command, _ outcome: Command.Outcome) -> String? {
    // Both commands print this line. `check` removes its traces, so only the line is left.
    if let line = outcome.errorOutput.split(separator: "\n").first(where: {
      $0.hasSuffix("differed from a fresh unwind")
    }) {
      return String(line)
    }
    for directory in outputDirectories(of: command) {
      for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
        guard let trace = RecordedTrace(path: "\(directory)/\(name)") else { continue }
        if trace.drops.mismatchedStacks > 0 {
          return "\(name): \(trace.drops.mismatchedStacks) of \(trace.eventCount) stacks differed from a fresh unwind"
        }
      }
    }
    return nil
  }

  private static func recordsAt(_ index: Int, _ arguments: [String]) -> Bool {
    arguments[index] == BuildProducts.leaktrace && index + 1 < arguments.count
      && ["record", "check"].contains(arguments[index + 1])
  }

  private static func runsPackageManager(_ arguments: ArraySlice<String>) -> Bool {
    arguments.drop { $0 != "--" }.dropFirst().first == BuildProducts.toolchain + "/swift"
  }

  private static func preloads(_ command: Command) -> Bool {
    command.environment["LD_PRELOAD"]?.contains(BuildProducts.preloadLibrary) ?? false
  }

  private static func outputDirectories(of command: Command) -> Set<String> {
    var paths: [String] = []
    for index in command.arguments.indices where recordsAt(index, command.arguments) {
      let rest = command.arguments[index...].prefix { $0 != "--" }
      for option in rest.indices.dropLast() where ["-o", "--output"].contains(rest[option]) {
        paths.append(rest[option + 1])
      }
    }
    if preloads(command), let path = command.environment["LEAKTRACE_OUTPUT"] { paths.append(path) }
    return Set(paths.map { BuildProducts.parent(of: $0.hasPrefix("/") ? $0 : "\(command.directory)/\($0)") })
  }
}
