// A program that uses a package, for tests of the owner of code.

import TraceTestSupport

@testable import TraceReading
@testable import TraceSymbolication

/// Names functions by address. They belong to the program's module `Shop`, or to `Feeds`, which a package manager
/// checked out.
struct PackageProgram: FrameNaming {
  static let open: UInt64 = 0x1000_1710
  static let watch: UInt64 = 0x1000_1720
  static let sink: UInt64 = 0x1000_1810
  static let store: UInt64 = 0x1000_1820
  static let argument: UInt64 = 0x1000_1830
  /// Whether the package's functions have source files in a checkout.
  var isCheckedOut = true

  var remarks: [String] { [] }

  func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
    switch key.address.rawValue {
    case Self.open: [frame("Desk.open(_:)", "Shop", line: 12)]
    case Self.watch: [frame("Desk.watch(_:)", "Shop", line: 34)]
    case Self.sink: [frame("Feeds.Publisher.sink(_:)", "Feeds", line: 56)]
    case Self.store: [frame("Feeds.Token.init(_:)", "Feeds", line: 78)]
    case Self.argument: [frame("default argument 1 of Feeds.Publisher.sink(_:)", "Feeds", line: nil)]
    default:
      [
        frame(
          RequestServer.functions[key.address.rawValue] ?? "main()", "Shop", line: Int(key.address.rawValue & 0xFFF))
      ]
    }
  }

  private func frame(_ name: String, _ module: String, line: Int?) -> SourceFrame {
    let isSystem = name.hasPrefix("system ")
    return SourceFrame(
      function: name, fullFunction: name,
      mangledName: isSystem ? String(name.dropFirst(7)) : "$s\(module.count)\(module)\(name)",
      imagePath: isSystem ? "/lib/libdispatch.so" : "/srv/shop/shop",
      file: isSystem || line == nil ? nil : sourceFile(ofModule: module, in: []), line: line, column: nil,
      isInlined: false, kind: isSystem ? .systemLibrary : .user, isAsync: false,
      asyncPart: nil)
  }

  func sourceFile(ofModule module: String, in images: [LoadedImage]) -> String? {
    switch module {
    case "Shop": "/srv/shop/Sources/Shop/Desk.swift"
    case "Feeds":
      isCheckedOut ? "/srv/shop/.build/checkouts/feeds/Sources/Feeds/Feeds.swift" : "/srv/shop/Vendor/Feeds/Feeds.swift"
    default: nil
    }
  }
}
