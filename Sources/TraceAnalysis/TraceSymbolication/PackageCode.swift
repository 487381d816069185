// Separates code of the packages that a program depends on from the program's own code.

/// Finds the package of a source file, by the package manager's folder for checkouts.
///
/// A package that the program's author works on is the program's own code: the root package, a local package or an
/// edited package. Folders do not separate packages from the program if all code is in one repository, or with another
/// build system. In these cases, set `ownModules`: if it is not empty, exactly these modules are the program's code.
package struct PackageCode {
  private let executable: String
  /// The Swift modules of the program itself. If empty, folders decide.
  private let ownModules: Set<String>
  /// The parent of the checkouts folder in the executable's build folder, with a slash at the end.
  private let scratch: String?

  /// `executable`: the path of the traced program.
  package init(executable: String, ownModules: Set<String> = []) {
    self.executable = executable
    self.ownModules = ownModules
    // DIRECTORY/TRIPLE/CONFIGURATION/PRODUCT
    let parts = executable.split(separator: "/", omittingEmptySubsequences: false)
    scratch = parts.count > 4 ? parts.dropLast(3).joined(separator: "/") + "/" : nil
  }

  /// Returns the name of the package that contains a source file. Nil for the program's own files, and for files
  /// outside a package manager's folders. O(length).
  package func package(ofFile path: String) -> String? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    // If a package was built inside the checkout of another package, the innermost folder decides.
    for index in parts.indices.reversed() where index > 0 && index + 1 < parts.count {
      let folder = parts[...index].joined(separator: "/") + "/"
      guard let name = name(parts, at: index, folder) else { continue }
      // If the executable is in the same checkout, the package is the program itself.
      return executable.hasPrefix(folder + name + "/") ? nil : name
    }
    return nil
  }

  /// Returns the folder below the checkouts folder. For packages from a registry, returns the scope and the folder
  /// below it.
  private func name(_ parts: [Substring], at index: Int, _ folder: String) -> String? {
    switch parts[index] {
    case "checkouts":
      guard
        parts[index - 1].hasPrefix(".build") || parts[index - 1] == "SourcePackages"
          || scratch.map({ folder == $0 + "checkouts/" }) ?? false
      else { return nil }
      return String(parts[index + 1])
    case "downloads":
      guard parts[index - 1] == "registry", index + 2 < parts.count else { return nil }
      return "\(parts[index + 1])/\(parts[index + 2])"
    default: return nil
    }
  }

  /// Returns the package of a frame's function; nil for code of the program itself or the platform. Some functions have
  /// no file, such as initialisers and default arguments that the compiler makes. For them, another function of the
  /// same Swift module decides, if there is one in `frames`. O(frames).
  package func package(of frame: SourceFrame, among frames: [SourceFrame]) -> String? {
    guard frame.kind == .user else { return nil }
    let module = Self.module(of: frame)
    if !ownModules.isEmpty, let module {
      return ownModules.contains(String(module)) ? nil : frame.file.flatMap(package(ofFile:)) ?? String(module)
    }
    if let file = frame.file { return package(ofFile: file) }
    guard let module else { return nil }
    return frames.lazy.compactMap { other in other.file.flatMap { Self.module(of: other) == module ? $0 : nil } }.first
      .flatMap { package(ofFile: $0) }
  }

  /// Returns the package of a Swift module; nil for modules of the program itself or the platform. `file`: one of the
  /// module's source files, if one is known. If folders decide, a module without a file counts as the program's own.
  package func package(ofModule module: String, file: String?) -> String? {
    if module.isEmpty || SystemCode.isSystemModule(module) { return nil }
    if !ownModules.isEmpty { return ownModules.contains(module) ? nil : file.flatMap(package(ofFile:)) ?? module }
    return file.flatMap(package(ofFile:))
  }

  /// Returns the module whose source contains a Swift function. In a mangled name, `$s` precedes the length and the
  /// name of the module.
  private static func module(of frame: SourceFrame) -> Substring? { frame.mangledName.flatMap(module(ofMangled:)) }

  package static func module(ofMangled name: String) -> Substring? {
    guard name.hasPrefix("$s") else { return nil }
    let digits = name.dropFirst(2).prefix { $0.isASCII && $0.isNumber }
    guard let length = Int(digits), length > 0 else { return nil }
    let module = name.dropFirst(2 + digits.count).prefix(length)
    return module.count == length ? module : nil
  }
}
