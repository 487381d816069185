// Finds the files of a process that may have another root and other mounts than this one.

import Glibc
import TraceReading
import TraceSymbolication

/// Paths in this process to files of another process; valid as long as that process exists. Build IDs prove whether a
/// file is the mapped one.
package struct InspectedFiles: Hashable, Sendable {
  /// The other process's root directory; nil if both see the same files.
  package private(set) var root: String?
  /// Candidates for images, by build ID.
  package private(set) var byBuildID: [[UInt8]: [String]] = [:]

  /// For a core: the files that any process of this machine sees.
  package init() {}

  init(ofProcess process: Int32, mappings: [MemoryMapping], images: [LoadedImage]) {
    let root = "/proc/\(process)/root"
    if Self.hasOtherFiles(process) { self.root = root }
    let executable = ProcFile.target(ofLink: "/proc/\(process)/exe")
    for image in images where !image.buildID.isEmpty && image.path.hasPrefix("/") {
      var paths: [String] = []
      if self.root != nil { paths.append(root + DebugFileSearch.withoutDeletion(image.path)) }
      // This path also reaches deleted files. Only root may use it.
      if let mapping = mappings.mapping(at: image.range.lowerBound.rawValue) {
        paths.append(
          "/proc/\(process)/map_files/"
            + "\(String(mapping.range.lowerBound, radix: 16))-\(String(mapping.range.upperBound, radix: 16))")
      }
      if LiveProcessMemory.path(executable, below: ProcFile.target(ofLink: root)) == image.path {
        paths.append("/proc/\(process)/exe")
      }
      byBuildID[image.buildID, default: []] += paths.filter { access($0, R_OK) == 0 }
    }
  }

  /// True if a path may lead to another file for the process than for this one.
  private static func hasOtherFiles(_ process: Int32) -> Bool {
    var (own, other) = (stat(), stat())
    guard stat("/", &own) == 0, stat("/proc/\(process)/root/", &other) == 0 else { return false }
    return own.st_dev != other.st_dev || own.st_ino != other.st_ino
      || ProcFile.target(ofLink: "/proc/self/ns/mnt") != ProcFile.target(ofLink: "/proc/\(process)/ns/mnt")
  }
}

extension DebugFileSearch {
  /// Returns the search within a process's own files. A given root stays.
  package func among(_ files: InspectedFiles) -> DebugFileSearch {
    var search = self
    search.known = files.byBuildID
    if search.sysroot == nil, let root = files.root {
      search.sysroot = root
      // This machine's debug files may be from the same packages.
      search.debugPaths.append(systemDebugPath)
    }
    return search
  }
}
