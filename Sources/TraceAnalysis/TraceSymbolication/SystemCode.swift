// Separates the platform's own code from the program's.

import PlatformRules
import TraceReading

/// The rules that identify the platform's code: by its image, and, for programs with the libraries linked into them, by
/// name.
package struct SystemCode {
  private static let modules = RuleBook.shipped.table(.platform, by: .module)
  private static let images = RuleBook.shipped.table(.platform, by: .image)
  private static let functions = RuleBook.shipped.table(.platform, by: .symbol)
  private static let compiled = RuleBook.shipped.table(.compiled, by: .symbol)
  private static let cLibraries = RuleBook.shipped.table(.cLibrary, by: .image)

  /// The image is one of the platform's. `path` is the path in the traced process.
  package static func isSystemImage(_ path: String) -> Bool { images.matches(fileName(ofPath: path)) }

  /// The image is a shared library of the operating system: it is in a folder that only the system's packages use, not
  /// the program or libraries built with it. `path` is the path in the traced process.
  package static func isOfOperatingSystem(_ path: String) -> Bool {
    let folders = ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"]
    return folders.contains { path.hasPrefix($0) } && fileName(ofPath: path).contains(".so")
  }

  /// The image is the C library.
  package static func isCLibrary(_ path: String) -> Bool { cLibraries.matches(fileName(ofPath: path)) }

  package static func isSystemModule(_ module: String) -> Bool { modules.matches(module) }

  /// A function that has this symbol comes from the platform, though it is linked into the program.
  static func isSystemFunction(_ mangled: String) -> Bool {
    functions.matches(mangled) || isLocalRuntimeFunction(mangled)
  }

  /// A function of one file of the Swift runtime: `_ZL` and the length of a name that begins with `swift_`.
  private static func isLocalRuntimeFunction(_ mangled: String) -> Bool {
    mangled.hasPrefix("_ZL") && mangled.dropFirst(3).drop { $0.isNumber }.hasPrefix("swift_")
  }

  private static func isHeaderOfCLibrary(_ path: String) -> Bool {
    path.hasPrefix("/usr/include/") && path.contains("/bits/") && path.hasSuffix(".h") && !path.contains("c++")
  }

  /// Code of a macro expansion, in a file that does not exist and that the compiler names after the macro (Swift 5.9 to
  /// 6.3). With optimisation the expansion has such a name, and its line is 1 of the file that uses the macro. The next
  /// frame has the line of the use.
  private static func isMacroExpansion(_ name: DemangledName, _ position: SourcePosition?) -> Bool {
    name.full.hasPrefix("freestanding macro expansion #")
      || position?.file.map { fileName(ofPath: $0).hasPrefix("@__swiftmacro_") } ?? false
  }

  /// A file that the package manager writes for a test bundle: it lists the tests and starts XCTest's and Swift
  /// Testing's runners.
  private static func isGeneratedRunner(_ path: String) -> Bool {
    path.hasSuffix(".swift")
      && (path.contains("PackageTests.derived/") || path.contains("PackageDiscoveredTests.derived/"))
  }

  /// The kind of a frame in an image that may be the program's.
  static func kind(of name: DemangledName, mangled: String, inImage path: String?, position: SourcePosition?)
    -> SourceFrame.Kind
  {
    if let path, isSystemImage(path) { return .systemLibrary }
    // A merged function is one function's code with a parameter more: if it has a line, that line is the program's.
    if name.isThunk || (name.isMerged && (position?.line ?? 0) == 0) { return .thunk }
    if name.language == .other, compiled.matches(mangled) { return .thunk }
    // glibc's functions that headers define (`getline`, `asprintf`) are calls of its own: the code that includes them
    // makes the call.
    if name.language == .other, let file = position?.file, isHeaderOfCLibrary(file) { return .thunk }
    if isMacroExpansion(name, position) { return .thunk }
    if let module = name.module, isSystemModule(module) { return .systemLibrary }
    if let file = position?.file, isGeneratedRunner(file) { return .systemLibrary }
    if name.language != .swift, isSystemFunction(mangled) { return .systemLibrary }
    return .user
  }
}
