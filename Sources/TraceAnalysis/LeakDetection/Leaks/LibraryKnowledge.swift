// Facts about the platform's own code that help to find the owner of a leak.

import HeapAnalysis
import PlatformRules
import TraceSymbolication

/// Leaks of libraries that no program can avoid.
struct KnownLibraryLeaks {
  private let types: RuleTable

  static let shipped = KnownLibraryLeaks(.shipped)

  init(_ rules: RuleBook) { types = rules.table(.leaked, by: .type) }

  func reason(_ type: NodeType) -> String? { types.statement(for: type.qualifiedName) }
}

/// Functions that allocate for their callers.
enum AllocationFunctions {
  private static let allocators = RuleBook.shipped.table(.allocator, by: .symbol)
  private static let allocatorsByName = RuleBook.shipped.table(.allocator, by: .function)
  private static let makers = RuleBook.shipped.table(.makesForCaller, by: .symbol)
  private static let makingImages = RuleBook.shipped.table(.makesForCaller, by: .image)
  private static let swiftMakers = RuleBook.shipped.table(.makesForCallerInSwift, by: .symbol)
  private static let swiftMakingImages = RuleBook.shipped.table(.makesForCallerInSwift, by: .image)
  private static let keepers = RuleBook.shipped.table(.keepsForItself, by: .symbol)
  private static let keepingImages = RuleBook.shipped.table(.keepsForItself, by: .image)
  private static let givers = RuleBook.shipped.table(.givesAway, by: .symbol)
  private static let callers = RuleBook.shipped.table(.callsProgram, by: .symbol)
  private static let loops = RuleBook.shipped.table(.callsAgain, by: .symbol)
  private static let loopsByName = RuleBook.shipped.table(.callsAgain, by: .function)
  private static let starts = RuleBook.shipped.table(.startsMain, by: .symbol)

  static func isOne(_ frame: SourceFrame) -> Bool {
    if let name = frame.mangledName, allocators.matches(name) { return true }
    return allocatorsByName.matches(frame.function)
  }

  /// Returns whether a function makes something for its caller: one of the standard library's containers, or memory
  /// that a function of the C library hands out.
  static func isTransparent(_ frame: SourceFrame) -> Bool {
    let image = frame.imageName ?? ""
    // A stripped library names only its exported functions. The rule for the whole loaded image covers all other
    // functions, too.
    guard let name = frame.mangledName else { return makingImages.matches(image) }
    return isSwift(name)
      ? swiftMakingImages.matches(image) || swiftMakers.matches(name)
      : makers.matches(name) || makingImages.matches(image)
  }

  /// Returns whether a function keeps its memory permanently. Such functions are the Swift runtime's C++ code, the
  /// loader, and functions of the C library that keep results in their own tables. All other functions of the C library
  /// make something for their callers, or free the memory themselves.
  static func isRuntimeInternal(_ frame: SourceFrame) -> Bool {
    if keepingImages.matches(frame.imageName ?? "") { return true }
    guard let name = frame.mangledName else {
      let path = frame.imagePath ?? ""
      return SystemCode.isSystemImage(path) && !SystemCode.isCLibrary(path)
    }
    if isSwift(name) { return false }
    let plain = withoutAlias(name)
    return keepers.matches(plain) && !givers.matches(plain)
  }

  /// Returns the public name of a function that glibc calls by an internal name.
  private static func withoutAlias(_ name: String) -> Substring {
    name.hasPrefix("__GI_") ? name.dropFirst(5) : name[...]
  }

  /// Returns whether a function calls code that the program passed to it. Such a function may seem to have allocated a
  /// block itself, if the program's function left the stack by a tail call.
  static func callsProgram(_ frame: SourceFrame) -> Bool {
    frame.mangledName.map { callers.matches(withoutAlias($0)) } ?? false
  }

  /// Returns whether a function repeatedly calls code that others passed to it.
  static func callsBack(_ frame: SourceFrame) -> Bool {
    if let name = frame.mangledName, loops.matches(name) { return true }
    return loopsByName.matches(frame.function)
  }

  /// Returns whether a frame calls `main` for the program.
  static func isStartOfMain(_ frame: SourceFrame) -> Bool {
    frame.mangledName.map { starts.matches(withoutAlias($0)) } ?? false
  }

  private static func isSwift(_ name: String) -> Bool {
    name.hasPrefix("$s") || name.hasPrefix("$S") || name.hasPrefix("_$s")
  }
}
