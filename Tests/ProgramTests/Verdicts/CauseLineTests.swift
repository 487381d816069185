// The line of a cause that no reference path shows.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct CauseLineTests {
  private static let source = "awaits.swift"

  /// Returns the number of the program's line with a mark.
  private func line(_ mark: String) throws -> Int {
    let path = BuildProducts.packageRoot + "/Tests/Programs/" + Self.source
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(
      separator: "\n", omittingEmptySubsequences: false)
    return try #require(lines.firstIndex { $0.contains("// \(mark)") }) + 1
  }

  /// Returns the text of a report, without its line breaks.
  private func report(_ way: String, _ optimisation: String) throws -> String {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/t"
    let program = TestProgram(Self.source, flags: ["-g", optimisation])
    let recorded = try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", program.path(), way])
      .run()
    #expect(recorded.end == .exit(0), "\(recorded)")
    let text = try Command([BuildProducts.leaktrace, "analyze", trace, "--limit", "1"]).run().output
    return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  @Test("The line that closes siblings is named for survivors that it did not close", arguments: ["-O", "-Onone"])
  func siblings(optimisation: String) throws {
    let text = try report("sessions", optimisation)
    #expect(text.contains("Held by Desk.sessions."), "\(text)")
    // With `-O`, the release has no line of its own in the function. The report then names the line of the call.
    let place =
      optimisation == "-O" ? "\(try line("CALLED")) in runDesk()." : "\(try line("CLOSED")) in Desk.close(_:)."
    #expect(text.contains("retained or released at \(Self.source):\(place)") && text.contains("were not."), "\(text)")
  }

  @Test("The line that dropped a stream is named for the waiting task")
  func stream() throws {
    let text = try report("streams", "-Onone")
    #expect(text.contains("SUSPENDED FOREVER"), "\(text)")
    #expect(text.contains("was released at \(Self.source):\(try line("DROPPED")) in Hub.drop(_:)"), "\(text)")
  }

  @Test("A task is named by the await in its function, inlined or not", arguments: ["-O", "-Onone"])
  func inlined(optimisation: String) throws {
    let text = try report("plans", optimisation)
    #expect(text.contains("SUSPENDED FOREVER Task in Locator.locate(_:)"), "\(text)")
    #expect(text.contains("could resume the task at \(Self.source):\(try line("AWAITED"))"), "\(text)")
  }
}
