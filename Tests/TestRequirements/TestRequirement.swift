// Requirements of tests beyond a Swift toolchain.

import Glibc

/// A program, file or right that a test needs, but that not every machine has.
public struct TestRequirement: Sendable {
  let name: String
  let remedy: String
  let isMet: @Sendable () -> Bool

  /// - Parameters:
  ///   - name: The name of the requirement, as the subject of a sentence.
  ///   - remedy: How to meet the requirement, as a sentence.
  public init(_ name: String, remedy: String, isMet: @escaping @Sendable () -> Bool) {
    self.name = name
    self.remedy = remedy
    self.isMet = isMet
  }

  /// A program in `PATH` that `scripts/setup` installs.
  public static func program(_ name: String) -> TestRequirement {
    TestRequirement(name, remedy: "scripts/setup installs it.") {
      let directories = getenv("PATH").map { String(cString: $0) } ?? ""
      return directories.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
    }
  }
}
