// Finds the test that a stack belongs to.

import PlatformRules
import TextWriting
import TraceReading
import TraceSymbolication

/// Finds the test in the frames of a stack. Swift Testing's functions are recognised by the expansion of its macro, and
/// XCTest's methods by their callers.
///
/// Seen with Swift 6.1 to 6.3: `@Test` expands to functions named `$s…4TestfMp…` for its declaration. On Linux, XCTest
/// calls test methods through lists that the package manager writes (`__allTests__…`). It calls `setUp` and `tearDown`
/// from `XCTestCase.invokeTest`. If a child task or a detached task makes an object, the stack has no test. For one
/// thread at a time.
final class TestNames {
  /// True if tests can be on a stack: one of the libraries is loaded, or the program is a test bundle.
  let isTestRun: Bool

  private static let libraries = RuleBook.shipped.table(.testLibrary, by: .image)

  private let demangled: (String) -> String?
  private var known: [String: String?] = [:]

  /// `demangled`: returns the demangled form of a mangled name.
  init(images: [LoadedImage], demangled: @escaping (String) -> String?) {
    isTestRun = images.contains { Self.libraries.matches(fileName(ofPath: $0.path)) }
    self.demangled = demangled
  }

  /// Returns the name of the test: `TillTests.opens`, `BasketTests.testFilling`; nil if no test is on the stack.
  /// `frames`: innermost first. Linear in the text of their names.
  func test(_ frames: [SourceFrame]) -> String? {
    guard isTestRun else { return nil }
    var isInsideXCTest = false
    for frame in frames.reversed() {
      if let name = macroTest(frame.fullFunction) { return name }
      if frame.mangledName?.hasPrefix("$s6XCTest") ?? false {
        isInsideXCTest = true
      } else if isInsideXCTest, frame.kind == .user, !frame.fullFunction.contains("__allTests__") {
        return DeclarationName.isInitialiser(frame.function) ? nil : Self.method(frame.function)
      }
    }
    return nil
  }

  // MARK: Swift Testing

  private static let expansion = "4TestfMp"

  /// Returns the name of a `@Test` declaration for a function that the macro expands to; nil for other functions.
  private func macroTest(_ function: String) -> String? {
    guard function.utf8.count <= Self.longestName, let token = Self.token(function) else { return nil }
    if let known = known[token] { return known }
    let name = demangled(token).flatMap(Self.declaration)
    known[token] = .some(name)
    return name
  }

  /// Maximum length of a name that is examined.
  private static let longestName = 1 << 16

  /// Returns a mangled macro name, such as `$s9ShopTests04TillB0V5opens4TestfMp_`, from a longer name.
  private static func token(_ function: String) -> String? {
    let bytes = Array(function.utf8)
    let marker = Array(expansion.utf8)
    guard bytes.count >= marker.count,
      let found = (0...(bytes.count - marker.count)).first(where: {
        bytes[$0..<$0 + marker.count].elementsEqual(marker)
      })
    else { return nil }
    var end = found + marker.count
    while end < bytes.count, bytes[end] >= 0x30, bytes[end] <= 0x39 { end += 1 }
    guard end < bytes.count, bytes[end] == UInt8(ascii: "_") else { return nil }
    var start = found
    while start > 1, !(bytes[start] == UInt8(ascii: "s") && bytes[start - 1] == UInt8(ascii: "$")) {
      start -= 1
      // A mangled name has letters, digits and underscores; `$` begins it.
      let byte = bytes[start]
      guard byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80 || isAlphanumeric(byte) else {
        return nil
      }
    }
    guard start >= 1, bytes[start - 1] == UInt8(ascii: "$") else { return nil }
    return String(decoding: bytes[(start - 1)...end], as: UTF8.self)
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  /// Returns `TillTests.opens` for `peer macro @Test expansion #1 of opens in ShopTests.TillTests`.
  private static func declaration(_ text: String) -> String? {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard let expansion = words.firstIndex(of: "expansion"), words.count > expansion + 3, words[expansion + 2] == "of",
      let last = words.lastIndex(of: "in"), last > expansion + 3
    else { return nil }
    let name = words[(expansion + 3)..<last].joined(separator: " ")
    let context = words[(last + 1)...].joined(separator: " ")
    // The first part is the module.
    guard let dot = context.firstIndex(of: ".") else { return name }
    return "\(context[context.index(after: dot)...]).\(name)"
  }

  // MARK: XCTest

  /// Returns `BasketTests.testFilling` for `ShopTests.BasketTests.testFilling()`.
  private static func method(_ function: String) -> String {
    let name = function.prefix { $0 != "(" && $0 != "<" }.split(separator: ".")
    guard name.count >= 2 else { return function }
    return name.suffix(2).joined(separator: ".")
  }
}
