import Glibc
import Synchronization
public import Testing

extension Trait where Self == ConditionTrait {
  /// If all tests must run, a test without its requirement fails with a message. Otherwise the test is skipped, and
  /// standard error shows once for each requirement how to meet it.
  public static func requires(
    _ requirement: TestRequirement, sourceLocation: SourceLocation = #_sourceLocation
  ) -> ConditionTrait {
    .enabled("\(requirement.name) is missing.", sourceLocation: sourceLocation) {
      if requirement.isMet() { return true }
      let missing = MissingRequirement(description: "\(requirement.name) is missing. \(requirement.remedy)")
      if MissingRequirement.isFailure { throw missing }
      missing.tellOfSkippedTests()
      return false
    }
  }
}

struct MissingRequirement: Error, CustomStringConvertible {
  var description: String

  /// Whether all tests must run. `scripts/test` sets this variable to the directory of the products; a plain `swift
  /// test` does not.
  static let isFailure = getenv("LEAKTRACE_TEST_PRODUCTS") != nil

  private static let reported = Mutex<Set<String>>([])

  /// Writes the message to standard error, unless it was written before.
  func tellOfSkippedTests() {
    guard Self.reported.withLock({ $0.insert(description).inserted }) else { return }
    // A single write, so that no other output can split the line.
    let line = Array("tests are skipped: \(description)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }
}
