// A running process's view of files, and its kind of program.

import Glibc
import ProcessInspection
import TraceReading
import TraceRecording

/// A running process that a library may be loaded into. A value: the process may have changed a moment later.
package struct TargetView: Sendable {
  package let processID: Int32
  /// It has the same root directory and the same mounts as this process.
  package let sharesFiles: Bool
  /// The process has a Swift runtime, as a library or inside the program.
  package let hasSwift: Bool
  /// The name that the recorder uses for `%n`.
  package let programName: String
  let userID: uid_t
  let groupID: gid_t
  /// The process's identity before any other fact about it was read.
  let identity: ProcessIdentity?

  /// - Throws: `AttachmentError` if it cannot be attached to, for a reason that is visible from outside.
  package init(of processID: Int32) throws(AttachmentError) {
    identity = ProcessIdentity(of: processID)
    do throws(InspectionError) { try TracingRights.check(processID) } catch {
      throw .inspection(identity?.reason(for: error) ?? error)
    }
    self.processID = processID
    let paths = Self.mappedPaths(processID)
    guard !paths.isEmpty else {
      throw .inspection(identity?.changeMeanwhile ?? .processRefused(processID, errno: EACCES))
    }
    sharesFiles = Self.sharesFiles(processID)
    let outline = Self.outline(processID)
    if let reason = Self.otherLanguage(outline, paths) { throw .unsuitable(processID, reason) }
    programName = ProcessMappings.programName(of: processID) ?? ""
    hasSwift = paths.contains { $0.contains("/libswiftCore.so") } || outline?.containsSwiftRuntime == true
    let status = ProcFile.lines("/proc/\(processID)/status")
    // Linux 6.6. A shadow stack would reject the return of the injected call.
    if status["x86_Thread_features"]?.contains("shstk") == true { throw .unsuitable(processID, .shadowStack) }
    func effective(_ field: String) -> UInt32? {
      // Real, effective, saved, of the file system.
      status[field[...]].flatMap { UInt32($0.split(separator: "\t").dropFirst(3).first ?? "") }
    }
    userID = effective("Uid") ?? geteuid()
    groupID = effective("Gid") ?? getegid()
  }

  /// The reason why a process of another language cannot be inspected: it keeps its objects in its own memory. Parts of
  /// such memory may look like an allocator's metadata by chance.
  package static func otherLanguage(_ processID: Int32) -> AttachmentError? {
    otherLanguage(outline(processID), mappedPaths(processID)).map { .unsuitable(processID, $0) }
  }

  private static func otherLanguage(
    _ outline: ExecutableOutline?, _ paths: Set<Substring>
  ) -> AttachmentError.Unsuitability? {
    if let outline, !outline.sectionNames.isDisjoint(with: [".note.go.buildid", ".go.buildinfo"]) { return .go }
    return paths.contains { $0.hasSuffix("/libjvm.so") } ? .java : nil
  }

  /// Converts a path of the process to one that this process can open.
  package func ownPath(_ path: String) -> String { sharesFiles ? path : "/proc/\(processID)/root\(path)" }

  /// The traces that the process is recording to, as paths that this process can open.
  package func recordedTraces() -> [String] {
    ((try? PauseSwitch.liveFiles(of: processID)) ?? []).map(\.tracePath)
  }

  private static func sharesFiles(_ processID: Int32) -> Bool {
    func mounts(_ process: String) -> String? {
      var buffer = [UInt8](repeating: 0, count: 256)
      let count = buffer.withUnsafeMutableBytes {
        readlink("/proc/\(process)/ns/mnt", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
      }
      return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
    var own = stat(), other = stat()
    guard let here = mounts("self"), here == mounts(String(processID)) else { return false }
    return stat("/", &own) == 0 && stat("/proc/\(processID)/root/", &other) == 0 && own.st_dev == other.st_dev
      && own.st_ino == other.st_ino
  }

  /// The program is linked dynamically, whatever is loaded so far.
  var asksForLoader: Bool { Self.outline(processID)?.loader != nil }

  private static func outline(_ processID: Int32) -> ExecutableOutline? {
    guard case .elf(let outline)? = try? ExecutableKind.read(path: "/proc/\(processID)/exe") else { return nil }
    return outline
  }

  private static func mappedPaths(_ processID: Int32) -> Set<Substring> {
    // The list's size is not known in advance; a hundred thousand mappings take tens of megabytes.
    let text = String(decoding: ProcFile.bytes("/proc/\(processID)/maps", upTo: 64 << 20), as: UTF8.self)
    var paths: Set<Substring> = []
    for line in text.split(separator: "\n") {
      if let slash = line.firstIndex(of: "/") {
        let path = line[slash...]
        paths.insert(path.hasSuffix(" (deleted)") ? path.dropLast(10) : path)
      } else if line.hasSuffix("]") {
        paths.insert("[")
      }
    }
    return paths
  }
}
