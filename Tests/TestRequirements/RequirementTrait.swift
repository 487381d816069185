import Glibc
import Synchronization
public import Testing

extension Trait where Self == ConditionTrait {
  /// If all tests must run, a test that lacks its requirement fails and says so. Otherwise it is skipped, and standard
  /// error says once for each requirement how to meet it.
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

  /// Whether all tests are to run. `scripts/test` says where the built products are; a plain `swift test` does not.
  static let isFailure = getenv("LEAKTRACE_TEST_PRODUCTS") != nil

  private static let told = Mutex<Set<String>>([])

  /// Says it on standard error, unless that was said before.
  func tellOfSkippedTests() {
    guard Self.told.withLock({ $0.insert(description).inserted }) else { return }
    // One write, so that no other output breaks the line.
    let line = Array("tests are skipped: \(description)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }
}
