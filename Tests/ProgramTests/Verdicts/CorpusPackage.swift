// Programs that depend on other packages: servers, and faults in the use of SwiftNIO. They form one package, so that
// the dependencies are compiled once.

import Foundation

enum CorpusPackage {
  private static let directory = CorpusCase.directory + "/Packages"
  private static let cache = BuildProducts.packageRoot + "/.build/e2e-programs/packages"

  static let servers = directory + "/servers.json"

  /// The servers, and the program that sends requests to them.
  private static let serverProducts = ["audit-server", "session-server", "debug-server", "load"]

  /// Returns the directory of the products. Blocks until they are built.
  ///
  /// `product`: the only product to build; nil for all servers.
  static func products(_ product: String? = nil, isOptimised: Bool = true) throws -> String {
    try BuildLock.withLock(for: cache) { try build(product, isOptimised: isOptimised) }
  }

  private static func build(_ product: String?, isOptimised: Bool) throws -> String {
    var command = Command([
      BuildProducts.toolchain + "/swift", "build", "--package-path", directory, "--scratch-path", cache,
      "--configuration", isOptimised ? "release" : "debug", "--jobs", "2",
    ])
    command.timeLimit = 1500
    // A build of everything may include leaktrace, whose parser this package does not ask for.
    let building = (product.map { [$0] } ?? serverProducts).map { command.arguments + ["--product", $0] }
    let printing = command.arguments + ["--show-bin-path"]
    var path = ""
    for arguments in building + [printing] {
      command.arguments = arguments
      let outcome = try command.run()
      guard outcome.end == .exit(0) else {
        throw CommandFailure("swift build: \(outcome.output)\(outcome.errorOutput)")
      }
      path = outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    return path
  }
}
