// `swift package leaktrace` in other packages: a library with tests in Swift Testing and XCTest, and a program.

import Foundation
import TestRequirements
import Testing

@Suite(.secondTier, .serialized, .requires(.recorder)) struct PluginTests {
  /// A package that depends on this one by path, with its own cache of dependencies.
  private struct Package {
    let directory: TemporaryDirectory

    init(_ targets: String, _ files: [String: String]) throws {
      directory = try TemporaryDirectory()
      let manifest = """
        // swift-tools-version: 6.1
        import PackageDescription
        let package = Package(
          name: "Shop",
          dependencies: [.package(name: "leaktrace", path: "\(BuildProducts.packageRoot)", traits: [])],
          targets: [\(targets)])
        """
      for (name, text) in files.merging(["Package.swift": manifest], uniquingKeysWith: { $1 }) {
        let path = URL(fileURLWithPath: "\(directory.path)/\(name)")
        try FileManager.default.createDirectory(
          at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: path)
      }
    }

    func run(_ arguments: String...) throws -> Command.Outcome {
      var command = Command(
        [BuildProducts.toolchain + "/swift", "package", "--cache-path", directory.path + "/cache", "leaktrace"]
          + arguments)
      command.directory = directory.path
      command.environment["LEAKTRACE"] = BuildProducts.leaktrace
      return try command.run()
    }

    func has(_ file: String) -> Bool { FileManager.default.fileExists(atPath: "\(directory.path)/\(file)") }
  }

  private static let cart = """
    public final class Cart {
      public var other: Cart?
      public init() {}
      public static func leak() {
        let (first, second) = (Cart(), Cart())
        (first.other, second.other) = (second, first)
      }
    }
    """

  private static let swiftTesting = """
    import Shop
    import Testing
    @Test func leaks() { for _ in 0..<3 { Cart.leak() } }
    """

  private static let xctest = """
    import Shop
    import XCTest
    final class CartTests: XCTestCase { func testLeaks() { for _ in 0..<3 { Cart.leak() } } }
    """

  @Test("The plugin checks a package's tests with either library", arguments: ["Swift Testing", "XCTest"])
  func tests(library: String) throws {
    let package = try Package(
      #".target(name: "Shop"), .testTarget(name: "ShopTests", dependencies: ["Shop"])"#,
      [
        "Sources/Shop/Cart.swift": Self.cart,
        "Tests/ShopTests/CartTests.swift": library == "XCTest" ? Self.xctest : Self.swiftTesting,
      ])
    let outcome = try package.run("test")
    #expect(outcome.end == .exit(1), "\(outcome.output)\(outcome.errorOutput)")
    #expect(outcome.output.contains("RETAIN CYCLE  Cart"), "\(outcome.output)")
    #expect(outcome.output.contains("Cart.swift:5"))
    let accepted = try package.run("test", "--update-baseline")
    #expect(accepted.end == .exit(0), "\(accepted.output)\(accepted.errorOutput)")
    #expect(package.has(".leaktrace-baseline"))
    let again = try package.run("test")
    #expect(again.end == .exit(0), "\(again.output)\(again.errorOutput)")
    #expect(!package.has(".build/checkouts/swift-argument-parser"))
  }

  @Test("The plugin runs a product with its arguments and passes its failure on")
  func product() throws {
    let main = """
      let count = Int(CommandLine.arguments[1])!
      for _ in 0..<count { Cart.leak() }
      if count == 7 { fatalError() }
      """
    let package = try Package(
      #".executableTarget(name: "shop")"#, ["Sources/shop/Cart.swift": Self.cart, "Sources/shop/main.swift": main])
    let leaking = try package.run("run", "shop", "--", "3")
    #expect(leaking.end == .exit(1), "\(leaking.output)\(leaking.errorOutput)")
    #expect(leaking.output.contains("3 × 2") || leaking.output.contains("RETAIN CYCLE  Cart"))
    let clean = try package.run("run", "shop", "-c", "release", "--", "0")
    #expect(clean.end == .exit(0), "\(clean.output)\(clean.errorOutput)")
    #expect(try package.run("run", "shop", "--", "7").end != .exit(0))
    #expect(try package.run("run", "none").end != .exit(0))
  }

  @Test("The plugin explains how to install a missing command")
  func missingCommand() throws {
    let package = try Package(#".target(name: "Shop")"#, ["Sources/Shop/Cart.swift": Self.cart])
    var command = Command([BuildProducts.toolchain + "/swift", "package", "leaktrace", "test"])
    command.directory = package.directory.path
    command.environment["PATH"] = "/usr/bin:/bin"
    let outcome = try command.run()
    #expect(outcome.end != .exit(0))
    #expect((outcome.output + outcome.errorOutput).contains("leaktrace is not installed"))
  }
}
