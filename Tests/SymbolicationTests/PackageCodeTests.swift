// The package that a source file belongs to.

import Testing

@testable import TraceSymbolication

@Suite struct PackageCodeTests {
  private let server = PackageCode(executable: "/home/ann/shop/.build/x86_64-unknown-linux-gnu/debug/server")

  @Test(arguments: [
    ("/home/ann/shop/.build/checkouts/swift-nio/Sources/NIOCore/Channel.swift", "swift-nio"),
    ("/builds/shop/.build-ci/checkouts/swift-log/Sources/Logging/Logging.swift", "swift-log"),
    (
      "/Users/ann/Library/Developer/Xcode/DerivedData/Shop-abc/SourcePackages/checkouts/Yams/Sources/Yams/Node.swift",
      "Yams"
    ),
    (
      "/home/ann/shop/.build/registry/downloads/apple/swift-nio/2.101.2/Sources/NIOCore/Channel.swift",
      "apple/swift-nio"
    ),
  ]) func fileInAPackageCheckoutBelongsToThePackage(file: String, package: String) {
    #expect(server.package(ofFile: file) == package)
  }

  @Test(arguments: [
    "/home/ann/shop/Sources/Server/main.swift", "/home/ann/shop-kit/Sources/ShopKit/Shop.swift",
    "/home/ann/checkouts/shop/Sources/Server/main.swift",
    "/home/ann/shop/Sources/Server/checkouts/Basket.swift", "/home/ann/shop/.build/checkouts", "checkouts/swift-nio",
    "", "/",
  ]) func filesOfRootAndLocalPackagesBelongToTheProgram(file: String) {
    #expect(server.package(ofFile: file) == nil)
  }

  @Test func programThatIsACheckoutItselfIsNotAPackage() {
    let tests = PackageCode(
      executable: "/srv/.build/checkouts/swift-log/.build/x86_64-unknown-linux-gnu/debug/swift-logPackageTests.xctest")
    #expect(tests.package(ofFile: "/srv/.build/checkouts/swift-log/Sources/Logging/Logging.swift") == nil)
    #expect(
      tests.package(ofFile: "/srv/.build/checkouts/swift-log/.build/checkouts/swift-nio/Sources/NIOCore/Channel.swift")
        == "swift-nio")
  }

  @Test func scratchFolderIsFoundByItsExecutable() {
    let program = PackageCode(executable: "/scratch/shop/x86_64-unknown-linux-gnu/release/server")
    #expect(program.package(ofFile: "/scratch/shop/checkouts/swift-nio/Sources/NIOCore/Channel.swift") == "swift-nio")
    #expect(program.package(ofFile: "/scratch/other/checkouts/swift-nio/Sources/NIOCore/Channel.swift") == nil)
  }

  @Test func functionWithoutALineBelongsToItsModulesPackage() {
    func frame(_ mangled: String, _ file: String?) -> SourceFrame {
      SourceFrame(
        function: mangled, fullFunction: mangled, mangledName: mangled,
        imagePath: "/home/ann/shop/.build/x86_64-unknown-linux-gnu/debug/server", file: file, line: nil, column: nil,
        isInlined: false, kind: .user, isAsync: false, asyncPart: nil)
    }
    let initialiser = frame("$s7NIOCore7ChannelCACycfC", nil)
    let method = frame(
      "$s7NIOCore7ChannelC5closeyyF", "/home/ann/shop/.build/checkouts/swift-nio/Sources/NIOCore/Channel.swift")
    let other = frame("$s6Server4mainyyF", "/home/ann/shop/Sources/Server/main.swift")
    #expect(server.package(of: initialiser, among: [initialiser, method, other]) == "swift-nio")
    #expect(server.package(of: initialiser, among: [initialiser, other]) == nil)
    #expect(
      server.package(of: frame("$s99", nil), among: [method]) == nil
        && server.package(of: frame("$s", nil), among: [method]) == nil)
  }
}
