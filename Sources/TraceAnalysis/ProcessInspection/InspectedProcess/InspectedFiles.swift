// Finds the files of another process, whose root and mounts may differ from this process's.

import Glibc
import TraceReading
import TraceSymbolication

/// Paths that this process can use to open the files of another process. They are valid as long as the other process
/// exists. The build ID of a file shows whether it is the mapped file.
package struct InspectedFiles: Hashable, Sendable {
  /// The path of the other process's root directory; nil if both processes see the same files.
  package private(set) var root: String?
  /// For each build ID: paths of files that may be the loaded image's file.
  package private(set) var byBuildID: [[UInt8]: [String]] = [:]

  /// For a core: files are looked up by their ordinary paths.
  package init() {}

  init(ofProcess process: Int32, mappings: [MemoryMapping], images: [LoadedImage]) {
    let root = "/proc/\(process)/root"
    if Self.hasOtherFiles(process) { self.root = root }
    let executable = ProcFile.target(ofLink: "/proc/\(process)/exe")
    for image in images where !image.buildID.isEmpty && image.path.hasPrefix("/") {
      var paths: [String] = []
      if self.root != nil { paths.append(root + DebugFileSearch.withoutDeletion(image.path)) }
      // This path also leads to deleted files, but only root may use it.
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

  /// Returns whether a path may lead to different files in the two processes.
  private static func hasOtherFiles(_ process: Int32) -> Bool {
    var (own, other) = (stat(), stat())
    guard stat("/", &own) == 0, stat("/proc/\(process)/root/", &other) == 0 else { return false }
    return own.st_dev != other.st_dev || own.st_ino != other.st_ino
      || ProcFile.target(ofLink: "/proc/self/ns/mnt") != ProcFile.target(ofLink: "/proc/\(process)/ns/mnt")
  }
}

extension DebugFileSearch {
  /// Returns the search extended to a process's own files. Keeps the root directory if one is set.
  package func among(_ files: InspectedFiles) -> DebugFileSearch {
    var search = self
    search.known = files.byBuildID
    if search.sysroot == nil, let root = files.root {
      search.sysroot = root
      // Debug files of this machine may belong to the same packages, so search them as well.
      search.debugPaths.append(systemDebugPath)
    }
    return search
  }
}
