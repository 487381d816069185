// Converts linkage names to names of the source, in full and in short form.

/// The readable name of a function.
package struct DemangledName: Hashable, Sendable {
  package enum Language: Hashable, Sendable {
    case swift, cPlusPlus
    /// C, or a name without a known mangling.
    case other
  }

  /// The name with all modules, types and specialization parameters.
  package var full: String
  /// The name without parts that most readers do not need; see `Demangler`.
  package var short: String
  var language: Language
  /// The Swift module whose source contains the function.
  package var module: String?
  /// True if the compiler made the function; see `SourceFrame.Kind.thunk`.
  package var isThunk: Bool
  /// True if several functions that differ only in constants share the code. The name belongs to one of these
  /// functions.
  var isMerged: Bool
  package var isAsync: Bool
  package var asyncPart: SourceFrame.AsyncPart?
}

/// Demangles Swift and C++ names. The short form of a Swift name:
///
/// - leaves out the modules in `programModules` and the standard library's module, and keeps other modules before the
///   name;
/// - keeps argument labels and leaves out types: `Poller.start(every:_:)`;
/// - says `specialized` once for any specialization: `specialized sum<A>(_:)`;
/// - gives all parts of an async function the function's name.
///
/// A child process demangles the names, since malformed names crash demanglers. Results are cached. For one thread at a
/// time.
package final class Demangler {
  /// The program's own modules, which short names leave out.
  let programModules: Set<String>

  /// Maximum length of a name that is demangled. Real names are shorter. For a longer name from a damaged file, a
  /// demangler's output might be unlimited.
  static let longestName = 1 << 14
  private static let cacheLimit = 1 << 18
  private var cache: [String: DemangledName] = [:]

  private let process: DemanglerProcess

  package convenience init(programModules: Set<String> = []) {
    self.init(programModules: programModules, process: DemanglerProcess())
  }

  /// Makes a demangler with a child process that other demanglers may share.
  init(programModules: Set<String>, process: DemanglerProcess) {
    self.programModules = programModules
    self.process = process
  }

  /// Demangles a name. A name that cannot be demangled is returned unchanged. O(length) on the first call for a name.
  func demangle(_ mangled: String) -> DemangledName {
    if let known = cache[mangled] { return known }
    if cache.count >= Self.cacheLimit { cache.removeAll(keepingCapacity: true) }
    let name = demangleAnew(mangled)
    cache[mangled] = name
    return name
  }

  /// Returns a variable's demangled name without its type. Leaves out the module if it is one of the program's own
  /// modules.
  func variableName(_ mangled: String) -> String {
    var name = Substring(demangle(mangled).full)
    if let end = name.firstIndex(of: ":"), end > name.startIndex, name[name.index(before: end)] == " " {
      name = name[..<name.index(before: end)]
    }
    for prefix in ["static ", ""] where name.hasPrefix(prefix) {
      let rest = name.dropFirst(prefix.count)
      if let dot = rest.firstIndex(of: "."), programModules.contains(String(rest[..<dot])) {
        return prefix + rest[rest.index(after: dot)...]
      }
    }
    return String(name)
  }

  private func demangleAnew(_ mangled: String) -> DemangledName {
    guard mangled.utf8.count <= Self.longestName else { return plain(mangled) }
    if isSwiftMangling(mangled), let full = process.demangle(mangled) {
      var shortener = SwiftNameShortener(full, droppedModules: programModules)
      let short = shortener.shorten()
      return DemangledName(
        full: full, short: short, language: .swift, module: shortener.module ?? moduleInSwiftMangling(mangled),
        isThunk: shortener.isThunk,
        isMerged: shortener.isMerged, isAsync: shortener.isAsync, asyncPart: shortener.asyncPart)
    }
    if mangled.hasPrefix("_Z") || mangled.hasPrefix("___Z"), let full = process.demangle(mangled) {
      return DemangledName(
        full: full, short: withoutCloneSuffix(full), language: .cPlusPlus, module: nil,
        isThunk: isCPlusPlusThunk(mangled), isMerged: false,
        isAsync: false, asyncPart: nil)
    }
    return plain(mangled)
  }

  private func plain(_ name: String) -> DemangledName {
    // Only the parts of a program's async entry point are async functions with a C name.
    var base = name
    var part: SourceFrame.AsyncPart?
    if name.hasPrefix("async_Main") {
      let suffix = name.dropFirst("async_Main".count)
      if suffix.hasSuffix("_"), let index = Int(suffix.dropFirst(2).dropLast()), index >= 0, index < 1 << 20 {
        // The mangling counts from 0, demangled names from 1.
        if suffix.hasPrefix("TQ") { part = .afterAwait(index: index + 1) }
        if suffix.hasPrefix("TY") { part = .afterSuspension(index: index + 1) }
      }
      if part != nil { base = "async_Main" }
    }
    return DemangledName(
      full: name, short: withoutLocalCopySuffix(base), language: .other, module: nil, isThunk: false, isMerged: false,
      isAsync: base == "async_Main", asyncPart: part)
  }

  private func isSwiftMangling(_ name: String) -> Bool {
    for prefix in ["$s", "_$s", "$S", "_$S", "@__swiftmacro_", "_T0", "$e", "_$e"] where name.hasPrefix(prefix) {
      return true
    }
    return false
  }

  private func isCPlusPlusThunk(_ mangled: String) -> Bool {
    mangled.hasPrefix("_ZTh") || mangled.hasPrefix("_ZTv") || mangled.hasPrefix("_ZTc")
  }

  /// Returns a name without a suffix such as ` [clone .cold]`, which demanglers write for parts and copies of a
  /// function.
  private func withoutCloneSuffix(_ name: String) -> String {
    guard name.hasSuffix("]"), let start = name.range(ofClone: " [clone ") else { return name }
    return String(name[..<start])
  }

  /// Returns a name without a suffix such as `.cold`, `.part.0` or `.constprop.0`. C symbols of parts and copies of
  /// functions have such suffixes.
  private func withoutLocalCopySuffix(_ name: String) -> String {
    guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return name }
    for marker in [".cold", ".part.", ".isra.", ".constprop.", ".llvm.", ".lto_priv."]
    where name[dot...].hasPrefix(marker) {
      return String(name[..<dot])
    }
    return name
  }

  /// Returns the module at the beginning of a Swift mangling: a length and that many characters, or `s` for the
  /// standard library.
  private func moduleInSwiftMangling(_ mangled: String) -> String? {
    let bytes = Array(mangled.utf8)
    guard let dollar = bytes.firstIndex(of: UInt8(ascii: "$")), dollar + 2 < bytes.count else { return nil }
    var index = dollar + 2
    if bytes[index] == UInt8(ascii: "s") || bytes[index] == UInt8(ascii: "S") { return "Swift" }
    var length = 0
    while index < bytes.count, bytes[index] >= UInt8(ascii: "0"), bytes[index] <= UInt8(ascii: "9"),
      length < Self.longestName
    {
      length = length * 10 + Int(bytes[index] - UInt8(ascii: "0"))
      index += 1
    }
    guard length > 0, index + length <= bytes.count else { return nil }
    return String(decoding: bytes[index..<index + length], as: UTF8.self)
  }
}

extension String {
  /// Returns the first index of `text` in the string. O(n).
  fileprivate func range(ofClone text: String) -> String.Index? {
    let (hay, needle) = (utf8, Array(text.utf8))
    var start = hay.startIndex
    while let found = hay[start...].firstIndex(of: needle[0]) {
      if hay[found...].starts(with: needle) { return found }
      start = hay.index(after: found)
    }
    return nil
  }
}
