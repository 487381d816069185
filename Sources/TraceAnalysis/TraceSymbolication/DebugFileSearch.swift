// Places to look for the files of a traced process, and for their separate debug files.

import TraceReading

/// Directories to search, in order of trust: the user's before the system's.
package struct DebugFileSearch: Hashable, Sendable {
  /// Directories with debug files or unstripped copies: laid out by build ID, like the traced file system, or flat.
  package var debugPaths: [String]
  /// The traced system's root directory on this machine, without a slash at its end; `nil` if this machine was traced.
  package var sysroot: String?
  /// Searched last, below the sysroot.
  package var systemDebugPath: String
  /// Files that have, or once had, a build ID, by that ID: searched first.
  package var known: [[UInt8]: [String]] = [:]

  package init(debugPaths: [String] = [], sysroot: String? = nil, systemDebugPath: String = "/usr/lib/debug") {
    self.debugPaths = debugPaths
    self.sysroot = sysroot.map { $0.count > 1 && $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    self.systemDebugPath = systemDebugPath
  }

  /// Returns the path where an image should be on this machine.
  package func localPath(ofImage path: String) -> String {
    let clean = Self.withoutDeletion(path)
    guard let sysroot else { return clean }
    return clean.hasPrefix("/") ? sysroot + clean : sysroot + "/" + clean
  }

  /// The path where a file was. The kernel adds a remark to the path of a deleted file. A new build may be at the same
  /// path; its build ID shows that.
  package static func withoutDeletion(_ path: String) -> String {
    let deleted = " (deleted)"
    return path.hasSuffix(deleted) ? String(path.dropLast(deleted.count)) : path
  }

  private var directories: [String] { debugPaths + [(sysroot ?? "") + systemDebugPath] }

  /// Files that hold debug information for a build ID, most trusted first. Empty if the ID is too short to be one.
  package func paths(forBuildID buildID: [UInt8]) -> [String] {
    guard buildID.count > 1 else { return [] }
    let name = "/.build-id/" + Hexadecimal.digits(buildID.prefix(1)) + "/" + Hexadecimal.digits(buildID.dropFirst())
    return known[buildID, default: []] + directories.flatMap { [$0 + name + ".debug", $0 + name] }
  }

  /// Files that may be a copy of the image or its debug file, by path and name. Only their build ID proves it.
  package func paths(forImage path: String) -> [String] {
    let path = Self.withoutDeletion(path)
    let rooted = path.hasPrefix("/") ? path : "/" + path
    var paths: [String] = []
    for directory in directories { paths += [directory + rooted, directory + rooted + ".debug"] }
    let name = fileName(ofPath: path)
    for directory in debugPaths { paths += [directory + "/" + name, directory + "/" + name + ".debug"] }
    return paths
  }

  /// Files that a debug link in the file at `localPath` may mean, for an image the process knew as `imagePath`.
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

  /// Files that a link to shared debug information may mean.
  func paths(forSupplement name: String, ofFileAt path: String, buildID: [UInt8]) -> [String] {
    let beside = name.hasPrefix("/") ? [(sysroot ?? "") + name] : [directory(ofPath: path) + "/" + name]
    return paths(forBuildID: buildID) + beside
  }
}

extension DebugFileSearch {
  /// Reads the files of this machine; for missing or replaced files it reads the parts in the traces.
  package func access(storedBy stored: [StoredFiles]) -> any SymbolFileAccess {
    stored.isEmpty ? LocalSymbolFiles() : StoredSymbolFiles(stored, sysroot: sysroot)
  }
}
