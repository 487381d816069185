// The results of a check in continuous integration: the steps of scripts/ci, and the tests that reports name.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct ContinuousIntegrationTests {
  @Test(
    "The GitHub and GitLab steps install, check, upload, comment and fail", .requires(.program("jq")),
    .requires(.program("curl")), .requires(.program("xz")), arguments: ["github", "gitlab"])
  func steps(of runner: String) throws {
    let program = try TestProgram("gated.swift", flags: ["-Onone"]).path()
    var command = Command([
      BuildProducts.packageRoot + "/scripts/check-ci", BuildProducts.directory, program, "ci.\(runner)_checks",
    ])
    if !TestTier.isWhole { command.environment["LEAKTRACE_CI_FIRST_TIER"] = "1" }
    let outcome = try command.run()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let count = outcome.errorOutput.firstMatch(of: /Ran ([0-9]+) tests/)
    #expect((count.flatMap { Int($0.1) } ?? 0) >= 5, "\(outcome.errorOutput)")
  }

  private struct Reports {
    var annotations: String
    var sarif: String
    var junit: String
    var quality: String
  }

  /// Checks a program whose tests leak. Some of its tests fail because of the leaks.
  private func check(_ program: String) throws -> Reports {
    let directory = try TemporaryDirectory()
    func path(_ name: String) -> String { "\(directory.path)/\(name)" }
    var command = Command([
      BuildProducts.leaktrace, "check", "--source-root", BuildProducts.packageRoot, "--write", "github=\(path("txt"))",
      "--write", "sarif=\(path("sarif"))", "--write", "junit=\(path("xml"))", "--write",
      "codequality=\(path("json"))", "--", try LeakTraceLibrary.tests(program).path(),
    ])
    command.directory = directory.path
    let outcome = try command.run()
    #expect(outcome.end == .exit(1), "\(outcome.output)\(outcome.errorOutput)")
    func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }
    return Reports(
      annotations: try text("txt"), sarif: try text("sarif"), junit: try text("xml"), quality: try text("json"))
  }

  @Test("Annotations, messages and test cases name the leaking test of Swift Testing") func swiftTesting() throws {
    let reports = try check("leaky-tests.swift")
    for test in [
      "SingleTests.leaksACycle", "LeakySuite.leaksInASuite", "SingleTests.leaksMoreThanIsAllowed",
    ] {
      let sentence = "Leaked in test \(test)."
      #expect(reports.annotations.contains("retained.%0A\(sentence)%0A"), "\(reports.annotations)")
      #expect(reports.sarif.contains("retained.\\n\(sentence)\\n"), "\(reports.sarif)")
      #expect(reports.junit.contains(" ↺ in \(test) ("), "\(reports.junit)")
      #expect(reports.junit.contains("retained. \(sentence)\""), "\(reports.junit)")
      #expect(reports.quality.contains("retained. \(sentence) "), "\(reports.quality)")
    }
  }

  @Test("Annotations, messages and test cases name the leaking tests of XCTest") func xctest() throws {
    let reports = try check("leaky-xctests.swift")
    let sentence =
      "Leaked in 5 tests: LeakyTests.testLeaks (8), LeakyTests.testLeaksBefore (8), LeakyTests.testLeaksLater (8), "
      + "LeakyTests.testLeaksUntilTheEnd (8), LeakyTests.testLeaksWhatIsAllowed (1)."
    #expect(reports.annotations.contains("%0A\(sentence)%0A"), "\(reports.annotations)")
    #expect(reports.sarif.contains("retained.\\n\(sentence)\\n"), "\(reports.sarif)")
    #expect(
      reports.junit.contains(
        "Retain cycle: Node ↺ in LeakyTests.testLeaks, LeakyTests.testLeaksBefore, LeakyTests.testLeaksLater and 2 more tests ("
      ), "\(reports.junit)")
    #expect(reports.junit.contains("retained. \(sentence)\""), "\(reports.junit)")
    #expect(reports.quality.contains("retained. \(sentence) "), "\(reports.quality)")
  }

  @Test("A plain `swift test` names the leaking tests of all its processes", .secondTier) func processes() throws {
    let run = try CheckedRun()
    _ = try run.directory.write(
      """
      // swift-tools-version: 6.0
      import PackageDescription
      let package = Package(name: "Shop", targets: [.target(name: "Shop"), .testTarget(name: "ShopTests", dependencies: ["Shop"])])
      """, to: "Package.swift")
    _ = try run.directory.write(
      """
      public final class Till { public var changed: (() -> Void)? }
      public func openTill() -> Till {
        let till = Till()
        till.changed = { _ = till }
        return till
      }
      """, to: "Sources/Shop/Till.swift")
    // The package manager runs the XCTest tests in a separate process.
    _ = try run.directory.write(
      """
      import Shop
      import Testing
      import XCTest
      struct NewTests { @Test func opens() { for _ in 0..<5 { #expect(openTill().changed != nil) } } }
      final class OldTests: XCTestCase { func testOpening() { for _ in 0..<3 { XCTAssertNotNil(openTill().changed) } } }
      """, to: "Tests/ShopTests/ShopTests.swift")
    var command = run.command(
      ["--write", "github=leaks.github", "--write", "junit=leaks.xml"], ["\(BuildProducts.toolchain)/swift", "test"])
    command.environment["TMPDIR"] = nil
    let outcome = try command.run()
    #expect(outcome.end == .exit(1), "\(outcome.output)\(outcome.errorOutput)")
    let (annotations, junit) = (try run.text("leaks.github"), try run.text("leaks.xml"))
    #expect(
      annotations.contains("%0ALeaked in 2 tests: NewTests.opens (5), OldTests.testOpening (3).%0A"), "\(annotations)")
    #expect(junit.contains("Till ↺ in NewTests.opens, OldTests.testOpening ("), "\(junit)")
  }
}
