// In async code, the stack of an allocation continues with the functions that await, before and after suspensions.

import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder)) struct AsyncCallersTests {
  @Test("Async callers are recorded in order", arguments: StackPrograms.swiftFlags)
  func callers(flags: [String]) throws {
    let run = try TracedRun([try StackPrograms.swift("stacks-async.swift", flags)], options: ["--verify-stacks"])
    #expect(run.traced.end == .exit(0))
    #expect(run.recorderLines == [])
    let trace = try run.onlyTrace()
    #expect(trace.drops.all == [])
    let recorded = try RecordedStacks(trace.path)
    var expected: [Int: [String]] = [:]
    for line in run.traced.output.split(separator: "\n") where line.hasPrefix("logical ") {
      let fields = line.split(separator: " ").map(String.init)
      expected[try #require(Int(fields[1]))] = Array(fields[2...])
    }
    #expect(expected.count > 500)

    let known = Set(expected.values.joined().map { $0.replacing("#", with: "") })
    let names = try FunctionNames(Set(recorded.allocations.values.joined().joined()), images: recorded.images)
    var differences: [String] = []
    var asyncFrameCount = 0
    for (size, wanted) in expected {
      let stacks = recorded.allocations[size] ?? []
      guard stacks.count == 1 else {
        differences.append("size \(size): recorded \(stacks.count) times")
        continue
      }
      asyncFrameCount += stacks[0].filter(\.isAsync).count
      let functions = stacks[0].flatMap { frame in names[frame].compactMap { function(in: $0, known: known) } }
      if merged(functions) != merged(wanted) { differences.append("size \(size): \(wanted) but recorded \(functions)") }
    }
    #expect(asyncFrameCount > expected.count)
    #expect(differences.isEmpty, "\(differences.count) of \(expected.count) differ: \(differences.prefix(5))")
  }

  /// Returns the program's function that a demangled name belongs to, followed by "#" if the name is a closure's.
  /// Returns nil for thunks that the compiler inserts.
  private func function(in name: String, known: Set<String>) -> String? {
    if name.contains("partial apply") || name.contains("protocol witness") { return nil }
    let words = name.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    return words.first(where: known.contains).map { $0 + (name.contains("closure #") ? "#" : "") }
  }

  /// Merges a closure with the function that contains it, if they are adjacent: an optimiser may have merged them.
  private func merged(_ functions: [String]) -> [String] {
    var result: [String] = []
    for function in functions {
      let name = function.replacing("#", with: "")
      if let last = result.last, last.hasSuffix("#"), last.dropLast() == name {
        result[result.count - 1] = function
      } else {
        result.append(function)
      }
    }
    return result.map { $0.replacing("#", with: "") }
  }
}
