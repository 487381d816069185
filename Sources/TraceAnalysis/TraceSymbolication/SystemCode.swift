// Separates the platform's code from the program's code.

import PlatformRules
import TextWriting
import TraceReading

/// The rules that identify the platform's code by its loaded image. If the program links the platform's libraries
/// statically, names identify their code.
package struct SystemCode {
  private static let modules = RuleBook.shipped.table(.platform, by: .module)
  private static let images = RuleBook.shipped.table(.platform, by: .image)
  private static let functions = RuleBook.shipped.table(.platform, by: .symbol)
  private static let compiled = RuleBook.shipped.table(.compiled, by: .symbol)
  private static let cLibraries = RuleBook.shipped.table(.cLibrary, by: .image)

  /// Returns whether a loaded image belongs to the platform. `path` is the path in the traced process.
  package static func isSystemImage(_ path: String) -> Bool { images.matches(fileName(ofPath: path)) }

  /// Returns whether a loaded image is a shared library of the operating system. This is true if the library is in a
  /// folder that only the system's packages use, not the program or libraries built with it. `path` is the path in the
  /// traced process.
  package static func isOfOperatingSystem(_ path: String) -> Bool {
    let folders = ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"]
    return folders.contains { path.hasPrefix($0) } && fileName(ofPath: path).contains(".so")
  }

  /// Returns whether a loaded image is the C library.
  package static func isCLibrary(_ path: String) -> Bool { cLibraries.matches(fileName(ofPath: path)) }

  package static func isSystemModule(_ module: String) -> Bool { modules.matches(module) }

  /// Returns whether a function with this symbol belongs to the platform, even if it is linked into the program.
  static func isSystemFunction(_ mangled: String) -> Bool {
    functions.matches(mangled) || isLocalRuntimeFunction(mangled)
  }

  /// Returns whether a function is a file-local function of the Swift runtime. Its symbol is `_ZL`, followed by the
  /// length and a name that begins with `swift_`.
  private static func isLocalRuntimeFunction(_ mangled: String) -> Bool {
    mangled.hasPrefix("_ZL") && mangled.dropFirst(3).drop { $0.isNumber }.hasPrefix("swift_")
  }

  private static func isHeaderOfCLibrary(_ path: String) -> Bool {
    path.hasPrefix("/usr/include/") && path.contains("/bits/") && path.hasSuffix(".h") && !path.contains("c++")
  }

  /// Returns whether a frame is code of a macro expansion. The expansion is in a nonexistent file, which the compiler
  /// names after the macro (Swift 5.9 to 6.3). In optimised code, only the function's name shows the expansion: its
  /// position is line 1 of the file that uses the macro. The next frame has the line that uses the macro.
  private static func isMacroExpansion(_ name: DemangledName, _ position: SourcePosition?) -> Bool {
    name.full.hasPrefix("freestanding macro expansion #")
      || position?.file.map { fileName(ofPath: $0).hasPrefix("@__swiftmacro_") } ?? false
  }

  /// Returns whether the package manager generated a file for a test bundle. Such a file lists the tests, and starts
  /// the runners of XCTest and Swift Testing.
  private static func isGeneratedRunner(_ path: String) -> Bool {
    path.hasSuffix(".swift")
      && (path.contains("PackageTests.derived/") || path.contains("PackageDiscoveredTests.derived/"))
  }

  /// Returns the kind of a frame.
  static func kind(of name: DemangledName, mangled: String, inImage path: String?, position: SourcePosition?)
    -> SourceFrame.Kind
  {
    if let path, isSystemImage(path) { return .systemLibrary }
    // A merged function is the code of one function with an additional parameter. If it has a line, the line is in the
    // program.
    if name.isThunk || (name.isMerged && (position?.line ?? 0) == 0) { return .thunk }
    if name.language == .other, compiled.matches(mangled) { return .thunk }
    // Functions that glibc's headers define (`getline`, `asprintf`) only call glibc. The code that includes the header
    // is the actual caller.
    if name.language == .other, let file = position?.file, isHeaderOfCLibrary(file) { return .thunk }
    if isMacroExpansion(name, position) { return .thunk }
    if let module = name.module, isSystemModule(module) { return .systemLibrary }
    if let file = position?.file, isGeneratedRunner(file) { return .systemLibrary }
    if name.language != .swift, isSystemFunction(mangled) { return .systemLibrary }
    return .user
  }
}
