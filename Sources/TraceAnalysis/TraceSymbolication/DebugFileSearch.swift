// Places to look for the files of a traced process, and for their separate debug files.

import TextWriting
import TraceReading

/// The directories to search. Directories that the user gives come before the system's directories.
package struct DebugFileSearch: Hashable, Sendable {
  /// Directories with debug files or unstripped copies. A directory may be organised by build ID, mirror the traced
  /// file system, or be flat.
  package var debugPaths: [String]
  /// The directory on this machine that has the traced system's files, without a trailing slash. `nil` if the trace
  /// comes from this machine.
  package var sysroot: String?
  /// A directory below the sysroot that is searched last.
  package var systemDebugPath: String
  /// Paths of files by build ID. A file may have been replaced since. These paths are searched first.
  package var known: [[UInt8]: [String]] = [:]

  package init(debugPaths: [String] = [], sysroot: String? = nil, systemDebugPath: String = "/usr/lib/debug") {
    self.debugPaths = debugPaths
    self.sysroot = sysroot.map { $0.count > 1 && $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    self.systemDebugPath = systemDebugPath
  }

  /// Returns the path where the file of a loaded image should be on this machine.
  package func localPath(ofImage path: String) -> String {
    let clean = Self.withoutDeletion(path)
    guard let sysroot else { return clean }
    return clean.hasPrefix("/") ? sysroot + clean : sysroot + "/" + clean
  }

  /// Returns a path without the remark that the kernel appends for a deleted file. A new build may be at the same path,
  /// with another build ID.
  package static func withoutDeletion(_ path: String) -> String {
    let deleted = " (deleted)"
    return path.hasSuffix(deleted) ? String(path.dropLast(deleted.count)) : path
  }

  private var directories: [String] { debugPaths + [(sysroot ?? "") + systemDebugPath] }

  /// Returns paths of files that may have debug information for a build ID, most trusted first. Empty if the ID is too
  /// short.
  package func paths(forBuildID buildID: [UInt8]) -> [String] {
    guard buildID.count > 1 else { return [] }
    let name = "/.build-id/" + Hexadecimal.digits(buildID.prefix(1)) + "/" + Hexadecimal.digits(buildID.dropFirst())
    return known[buildID, default: []] + directories.flatMap { [$0 + name + ".debug", $0 + name] }
  }

  /// Returns paths of files that may be a copy of the loaded image's file or of its debug file. Searches by path and
  /// name. The caller must check the build ID.
  package func paths(forImage path: String) -> [String] {
    let path = Self.withoutDeletion(path)
    let rooted = path.hasPrefix("/") ? path : "/" + path
    var paths: [String] = []
    for directory in directories { paths += [directory + rooted, directory + rooted + ".debug"] }
    let name = fileName(ofPath: path)
    for directory in debugPaths { paths += [directory + "/" + name, directory + "/" + name + ".debug"] }
    return paths
  }

  /// Returns possible paths of the loaded image's own file. Its usual path comes first. The caller must check the build
  /// ID. It must also check that the file is no debug file.
  package func paths(ofImage path: String, buildID: [UInt8]) -> [String] {
    [localPath(ofImage: path)] + paths(forBuildID: buildID) + paths(forImage: path)
  }

  /// Returns possible paths of the file that a debug link names. `localPath` is the file that has the link. `imagePath`
  /// is the loaded image's path in the process.
  func paths(forDebugLink link: String, inFileAt localPath: String, ofImage imagePath: String) -> [String] {
    let local = directory(ofPath: localPath)
    let traced = directory(ofPath: imagePath)
    var paths = [local + "/" + link, local + "/.debug/" + link]
    for directory in directories {
      paths.append(directory + (traced.hasPrefix("/") ? traced : "/" + traced) + "/" + link)
    }
    for directory in debugPaths { paths.append(directory + "/" + link) }
    return paths.filter { $0 != localPath }
  }

  /// Returns possible paths of the file that a link to shared debug information names.
  func paths(forSupplement name: String, ofFileAt path: String, buildID: [UInt8]) -> [String] {
    let beside = name.hasPrefix("/") ? [(sysroot ?? "") + name] : [directory(ofPath: path) + "/" + name]
    return paths(forBuildID: buildID) + beside
  }
}

extension DebugFileSearch {
  /// Returns an access that reads the files of this machine. If a file is missing or replaced, the access reads the
  /// parts of the file that the traces contain.
  package func access(storedBy stored: [StoredFiles]) -> any SymbolFileAccess {
    stored.isEmpty ? LocalSymbolFiles() : StoredSymbolFiles(stored, sysroot: sysroot)
  }
}
