// Separates code of the packages that a program depends on from the program's own.

/// Finds the package of a source file, by the package manager's folder for checkouts.
///
/// A package that the program's author works on (the root package, a local or an edited one) is the program's own code.
/// Folders may not separate packages from the program, if all code is in one repository or another build system keeps
/// it. Then `ownModules` are the program's code, and no other code is.
package struct PackageCode {
  private let executable: String
  /// Swift modules that are the program's own; empty if folders decide.
  private let ownModules: Set<String>
  /// The checkouts folder's parent in the build that made the executable; with a slash at the end.
  private let scratch: String?

  /// `executable`: the path of the traced program.
  package init(executable: String, ownModules: Set<String> = []) {
    self.executable = executable
    self.ownModules = ownModules
    // DIRECTORY/TRIPLE/CONFIGURATION/PRODUCT
    let parts = executable.split(separator: "/", omittingEmptySubsequences: false)
    scratch = parts.count > 4 ? parts.dropLast(3).joined(separator: "/") + "/" : nil
  }

  /// The name of the package that a file was compiled from; nil for the program's own files, and for files outside any
  /// package manager's folder. O(length).
  package func package(ofFile path: String) -> String? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    // If a package was built inside another's checkout, the innermost folder decides.
    for index in parts.indices.reversed() where index > 0 && index + 1 < parts.count {
      let folder = parts[...index].joined(separator: "/") + "/"
      guard let name = name(parts, at: index, folder) else { continue }
      // The program itself was checked out there.
      return executable.hasPrefix(folder + name + "/") ? nil : name
    }
    return nil
  }

  /// Returns the folder after the checkouts folder; for a registry's packages, the folder after the scope's.
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

  /// The package of a frame's function; nil for the program's own and the platform's code. If a function has no line
  /// (compiler-made initialisers, default arguments), another function of its Swift module decides. `frames`: the
  /// frames to search for one. O(frames).
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

  /// The package of a Swift module; nil for the program's own and the platform's. `file`: one of the module's source
  /// files, if any is known. A module without one counts as the program's own.
  package func package(ofModule module: String, file: String?) -> String? {
    if module.isEmpty || SystemCode.isSystemModule(module) { return nil }
    if !ownModules.isEmpty { return ownModules.contains(module) ? nil : file.flatMap(package(ofFile:)) ?? module }
    return file.flatMap(package(ofFile:))
  }

  /// The module that a Swift function was written in: `$s`, its length, its name.
  private static func module(of frame: SourceFrame) -> Substring? { frame.mangledName.flatMap(module(ofMangled:)) }

  package static func module(ofMangled name: String) -> Substring? {
    guard name.hasPrefix("$s") else { return nil }
    let digits = name.dropFirst(2).prefix { $0.isASCII && $0.isNumber }
    guard let length = Int(digits), length > 0 else { return nil }
    let module = name.dropFirst(2 + digits.count).prefix(length)
    return module.count == length ? module : nil
  }
}
