// Requirements of end-to-end tests: the products under test, and other programs.

import Foundation
import TestRequirements

extension TestRequirement {
  /// The command and the library that it preloads. `scripts/build` links the library, but `swift build` does not.
  static let recorder = TestRequirement(
    "libleaktrace.so beside leaktrace in \(BuildProducts.directory)",
    remedy: "Run them with: LEAKTRACE_TEST_PRODUCTS=$(scripts/build debug) swift test"
  ) {
    access(BuildProducts.preloadLibrary, R_OK) == 0 && access(BuildProducts.leaktrace, X_OK) == 0
  }

  /// The command without the library.
  static let command = TestRequirement(
    "leaktrace in \(BuildProducts.directory)",
    remedy: "Run them with: LEAKTRACE_TEST_PRODUCTS=$(scripts/build debug) swift test"
  ) {
    access(BuildProducts.leaktrace, X_OK) == 0
  }

  /// gdb with Python support.
  static let debugger = TestRequirement("gdb with Python", remedy: "scripts/setup installs it.") {
    let outcome = try? Command(["gdb", "-nx", "-batch", "-ex", "python print('works')"]).run()
    return outcome?.output == "works\n"
  }

  static let jemalloc = TestRequirement("libjemalloc.so", remedy: "scripts/setup installs it.") {
    ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"].contains {
      FileManager.default.fileExists(atPath: $0 + "/libjemalloc.so")
    }
  }
}
