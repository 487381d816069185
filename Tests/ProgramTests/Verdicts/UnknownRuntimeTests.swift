// Swift runtimes that leaktrace does not know: the report says so, and judges no task.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct UnknownRuntimeTests {
  private static let version = "_swift_concurrency_debug_internal_layout_version"

  /// Makes a copy of the concurrency runtime whose variable for debuggers has another value.
  private static func library(_ variable: String, _ value: UInt32, in directory: String) throws {
    let name = "libswift_Concurrency.so"
    let original = "\(BuildProducts.parent(of: BuildProducts.toolchain))/lib/swift/linux/\(name)"
    let listing = try Command([BuildProducts.toolchain + "/llvm-nm", "--dynamic", original]).run()
    let line = try #require(
      listing.output.split(separator: "\n").first { $0.hasSuffix(" \(variable)") })
    let address = try #require(UInt64(line.prefix { $0 != " " }, radix: 16))
    var file = try Data(contentsOf: URL(fileURLWithPath: original))
    let place = try #require(offset(of: address, in: file))
    #expect(word(UInt32.self, file, place) == (variable == version ? 1 : 208))
    withUnsafeBytes(of: value.littleEndian) { file.replaceSubrange(place..<place + 4, with: $0) }
    try file.write(to: URL(fileURLWithPath: "\(directory)/\(name)"))
  }

  /// Returns the offset in an ELF file of the byte that is loaded at `address`.
  private static func offset(of address: UInt64, in file: Data) -> Int? {
    let headers = Int(word(UInt64.self, file, 32))
    let count = Int(word(UInt16.self, file, 56))
    for header in (0..<count).map({ headers + 56 * $0 }) where word(UInt32.self, file, header) == 1 /* PT_LOAD */ {
      let start = word(UInt64.self, file, header + 16)
      if address >= start, address < start + word(UInt64.self, file, header + 32) {
        return Int(address - start + word(UInt64.self, file, header + 8))
      }
    }
    return nil
  }

  private static func word<Word: FixedWidthInteger>(_: Word.Type, _ file: Data, _ offset: Int) -> Word {
    file[offset..<offset + MemoryLayout<Word>.size].withUnsafeBytes { $0.loadUnaligned(as: Word.self) }
  }

  @Test("Tasks of unknown layout are not judged, and the report says so")
  func unknownLayout() throws {
    let program = try CorpusProgram.corpus.path(.dynamicOptimised)
    for (layout, isKnown) in [(1, true), (2, false)] as [(UInt32, Bool)] {
      let directory = try TemporaryDirectory()
      try Self.library(Self.version, layout, in: directory.path)
      let trace = directory.path + "/trace"
      var recording = Command([
        BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", program, "lost-unsafe-continuation", "leak",
      ])
      // The copy loads the other libraries from their usual directory.
      let libraries = BuildProducts.parent(of: BuildProducts.toolchain) + "/lib/swift/linux"
      recording.environment["LD_LIBRARY_PATH"] = "\(directory.path):\(libraries)"
      try #require(try recording.run().end == .exit(0))
      let outcome = try Command([BuildProducts.leaktrace, "analyze", trace]).run()
      #expect(outcome.end == .exit(0))
      #expect(outcome.output.contains("SUSPENDED FOREVER") == isKnown, "\(outcome.output.prefix(2000))")
      let words = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(
        words.contains("has layout 2 of tasks, and leaktrace knows layout 1.") == !isKnown, "\(words.prefix(2000))")
    }
  }

  @Test(
    "Tasks of unknown layout are not listed",
    arguments: [
      (version, 2, "has layout 2 of tasks, and leaktrace knows layout 1"),
      ("_swift_concurrency_debug_asyncTaskSize", 224, "has tasks of 224 bytes, and leaktrace knows tasks of 208 bytes"),
    ] as [(String, UInt32, String)])
  func refusedList(variable: String, value: UInt32, words: String) throws {
    let directory = try TemporaryDirectory()
    try Self.library(variable, value, in: directory.path)
    let libraries = BuildProducts.parent(of: BuildProducts.toolchain) + "/lib/swift/linux"
    let program = TestProgram(
      named: "every-wait", sources: ["tasks/every-wait.swift", "task-support.swift"],
      flags: ["-O", "-parse-as-library"])
    let waiting = try InspectionTests.Waiting(
      program, under: ["/usr/bin/env", "LD_LIBRARY_PATH=\(directory.path):\(libraries)"])
    defer { _ = try? waiting.end(SIGKILL) }
    for format in ["text", "json", "brief-json", "pprof"] {
      let outcome = try Command(
        [BuildProducts.leaktrace, "tasks", "\(waiting.processID)", "--format", format]
      ).run()
      #expect(outcome.end == .exit(3) && outcome.output.isEmpty, "\(format): \(outcome.output.prefix(500))")
      let sentences = outcome.errorOutput.split(separator: "\n").filter { $0.contains("Swift runtime") }
      #expect(
        sentences == [
          "leaktrace: the Swift runtime of the program \(words), so the tasks cannot be read: use a release of leaktrace that knows this runtime."
        ])
    }
  }
}
