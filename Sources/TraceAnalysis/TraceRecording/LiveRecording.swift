// The live file next to a trace. It shows whether the process still records, the number of events, and the pause
// switch.

import CTraceFormat
import Glibc
import TraceReading

/// A live file next to a trace, with its state when it was opened. The state may be out of date a moment later.
package struct LiveRecording: Hashable, Sendable {
  package var path: String
  package var traceID: UInt64
  let identity: FileIdentity
  /// Offset of the first slot.
  private let firstSlot: UInt64
  private let slotSize: UInt32
  private let slotCount: UInt32
  /// True if the recording was paused when the file was opened.
  let isPaused: Bool

  /// Opens the live file next to a trace. Nil if there is no valid live file.
  package init?(tracePath: String) { self.init(path: tracePath + String(LT_LIVE_SUFFIX)) }

  /// The path of the trace next to the live file.
  package var tracePath: String { String(path.dropLast(String(LT_LIVE_SUFFIX).count)) }

  /// - Parameter path: The path of the live file itself.
  package init?(path: String) {
    guard let file = ReadOnlyFile(path: path) else { return nil }
    let page = file.bytes(at: 0, count: MemoryLayout<lt_live_header>.size)
    guard page.count == MemoryLayout<lt_live_header>.size, page.starts(with: Self.magic) else { return nil }
    let header = page.load(lt_live_header.self, at: 0)
    guard header.version <= UInt32(LT_FORMAT_THINNED_VERSION), let firstSlot = header.firstSlot else { return nil }
    self.path = path
    traceID = header.traceID
    self.firstSlot = firstSlot
    slotSize = header.slotSize
    slotCount = header.slotCount
    isPaused = header.pauseSwitch == UInt32(LT_SWITCH_PAUSED)
    identity = file.deviceAndInode
  }

  static let magic: [UInt8] = [0x89] + Array("LKLIV\r\n".utf8)

  /// Returns the number of events in all slots.
  ///
  /// - Complexity: Linear in the number of slots.
  package func eventCount() -> UInt64 {
    guard let file = ReadOnlyFile(path: path), UInt64(slotSize) >= UInt64(MemoryLayout<lt_live_slot>.size) else {
      return 0
    }
    guard file.size > firstSlot else { return 0 }
    var sum: UInt64 = 0
    for index in 0..<min(UInt64(slotCount), (file.size - firstSlot) / UInt64(slotSize)) {
      let bytes = file.bytes(at: firstSlot + index * UInt64(slotSize), count: MemoryLayout<lt_live_slot>.size)
      guard bytes.count == MemoryLayout<lt_live_slot>.size else { break }
      let slot = bytes.load(lt_live_slot.self, at: 0)
      if slot.thread != 0 { sum &+= UInt64(slot.eventCount) }
    }
    return sum
  }

  /// Returns the processes that have mapped the file. A process that has mapped it records to it.
  ///
  /// Processes of other users may be missing, because their mappings cannot be read.
  /// - Complexity: Linear in the number of the system's processes and their mappings.
  package func recordingProcesses() -> [Int32] {
    ProcessMappings.processIDs().filter { isMapped(by: $0) }
  }

  /// Returns the recording processes of several files, in the order of the files.
  ///
  /// - Complexity: Linear in the number of the system's processes and their mappings. The number of files does not
  ///   matter.
  package static func recordingProcesses(of recordings: [LiveRecording]) -> [[Int32]] {
    guard !recordings.isEmpty else { return [] }
    let wanted = Set(recordings.map(\.identity))
    var found: [FileIdentity: [Int32]] = [:]
    for processID in ProcessMappings.processIDs() {
      for identity in Set(ProcessMappings.mappedFiles(of: processID).map(\.identity)).intersection(wanted) {
        found[identity, default: []].append(processID)
      }
    }
    return recordings.map { found[$0.identity] ?? [] }
  }

  package func isMapped(by processID: Int32) -> Bool {
    ProcessMappings.mappedFiles(of: processID).contains { $0.identity == identity }
  }
}

/// Reads the files of `/proc` about processes.
package enum ProcessMappings {
  package static func processIDs() -> [Int32] {
    guard let directory = opendir("/proc") else { return [] }
    defer { closedir(directory) }
    var result: [Int32] = []
    while let entry = readdir(directory) {
      if let number = Int32(directoryEntryName(entry)) { result.append(number) }
    }
    return result
  }

  struct MappedFile: Hashable {
    var identity: FileIdentity
    var path: String
  }

  /// Returns the distinct files that a process has mapped; none if the process is gone or belongs to another user.
  static func mappedFiles(of processID: Int32) -> Set<MappedFile> {
    var result: Set<MappedFile> = []
    for line in contents(of: "/proc/\(processID)/maps").split(separator: UInt8(ascii: "\n")) {
      // A line is: address permissions offset major:minor inode path
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
      guard fields.count == 6, let inode = UInt64(String(decoding: fields[4], as: UTF8.self)), inode != 0 else {
        continue
      }
      let device = String(decoding: fields[3], as: UTF8.self).split(separator: ":").compactMap { UInt64($0, radix: 16) }
      guard device.count == 2 else { continue }
      let path = String(decoding: fields[5].drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
      let number =
        (device[0] & 0xFFF) << 8 | (device[1] & 0xFF) | (device[1] & ~0xFF) << 12 | (device[0] & ~0xFFF) << 32
      result.insert(MappedFile(identity: FileIdentity(device: number, inode: inode), path: path))
    }
    return result
  }

  /// Returns paths where this process may find a file that another process has mapped. A process in a container, or
  /// after chroot, sees its files at other paths.
  ///
  /// - Parameter path: The path that the kernel shows to this process.
  static func openablePaths(of path: String, in processID: Int32) -> [String] {
    let link = "/proc/\(processID)/root"
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(link, &buffer, buffer.count)
    let root = String(decoding: buffer[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // If the process used chroot in another mount namespace, the kernel shows paths that begin at the namespace's root.
    let below = root.count > 1 && path.hasPrefix(root + "/") ? ["\(link)\(path.dropFirst(root.count))"] : []
    return [path, link + path] + below
  }

  /// Returns the name of a process's program file; nil if it cannot be read.
  package static func programName(of processID: Int32) -> String? {
    programPath(of: processID)?.split(separator: "/").last.map(String.init)
  }

  /// Returns the path of a process's program file; nil if it cannot be read.
  static func programPath(of processID: Int32) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/\(processID)/exe", &buffer, buffer.count)
    guard count > 0 else { return nil }
    let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // The kernel adds this mark if the file was deleted or replaced.
    return path.hasSuffix(" (deleted)") ? String(path.dropLast(10)) : path
  }

  /// Returns whether this process may read the mappings of another process. If not, opening the list fails.
  static func areReadable(of processID: Int32) -> Bool {
    let descriptor = open("/proc/\(processID)/maps", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    close(descriptor)
    return true
  }

  /// Returns whether a process runs a program. Kernel threads and ended processes have no command line.
  static func isProgram(_ processID: Int32) -> Bool { !contents(of: "/proc/\(processID)/cmdline").isEmpty }

  /// Returns the processes that a process has started and not yet waited for, in order of their IDs.
  static func children(of processID: Int32) -> [Int32] {
    processIDs().filter { child in
      // The line is: pid (name) state ppid …. The name may contain any characters.
      let fields = contents(of: "/proc/\(child)/stat")
      guard let end = fields.lastIndex(of: UInt8(ascii: ")")) else { return false }
      let rest = fields[(end + 1)...].split(separator: UInt8(ascii: " "))
      return rest.count > 1 && Int32(String(decoding: rest[1], as: UTF8.self)) == processID
    }.sorted()
  }

  /// Reads a file of `/proc`, whose size is not known in advance.
  private static func contents(of path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var result: [UInt8] = []
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { chunk.deallocate() }
    while true {
      let count = read(descriptor, chunk.baseAddress, chunk.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return result }
      result += chunk[..<count]
    }
  }
}

/// The name in an entry that `readdir` returned.
func directoryEntryName(_ entry: UnsafeMutablePointer<dirent>) -> String {
  withUnsafePointer(to: &entry.pointee.d_name) {
    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
  }
}
