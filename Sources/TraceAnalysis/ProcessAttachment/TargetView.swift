// A running process's view of files, and its kind of program.

import Glibc
import ProcessInspection
import TraceReading
import TraceRecording

/// A running process that a library may be loaded into. The facts may be out of date a moment later.
package struct TargetView: Sendable {
  package let processID: Int32
  /// Whether the process has the same root directory and mounts as this process.
  package let sharesFiles: Bool
  /// Whether the process has a Swift runtime, as a library or inside the program.
  package let hasSwift: Bool
  /// The name that the recorder uses for `%n`.
  package let programName: String
  let userID: uid_t
  let groupID: gid_t
  /// The process's identity, read before all other facts about the process.
  let identity: ProcessIdentity?

  /// - Throws: `AttachmentError` if a fact that is visible from outside the process prevents attaching.
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
    // Linux shows this since version 6.6. A shadow stack would reject the return of the injected call.
    if status["x86_Thread_features"]?.contains("shstk") == true { throw .unsuitable(processID, .shadowStack) }
    func effective(_ field: String) -> UInt32? {
      // The IDs are the real, effective, saved and file-system IDs. The last one owns the files that the process
      // creates.
      status[field[...]].flatMap { UInt32($0.split(separator: "\t").dropFirst(3).first ?? "") }
    }
    userID = effective("Uid") ?? geteuid()
    groupID = effective("Gid") ?? getegid()
  }

  /// Returns the reason why a process in a language such as Go or Java cannot be inspected; nil for other processes.
  /// Such a process manages its own memory, which may look like an allocator's metadata by chance.
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

  /// True if the program is linked dynamically. Its libraries may not be loaded yet.
  var asksForLoader: Bool { Self.outline(processID)?.loader != nil }

  private static func outline(_ processID: Int32) -> ExecutableOutline? {
    guard case .elf(let outline)? = try? ExecutableKind.read(path: "/proc/\(processID)/exe") else { return nil }
    return outline
  }

  private static func mappedPaths(_ processID: Int32) -> Set<Substring> {
    // The size of the list is not known in advance. A hundred thousand mappings take tens of megabytes.
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
