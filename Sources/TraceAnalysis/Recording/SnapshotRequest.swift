// Asking a process that is being recorded for a snapshot of its heap.

import CTraceFormat
import Glibc

/// A request to the recorder inside a process: the live file counts it, and a signal announces it.
///
/// For one thread. Two requesters at once may be answered by one snapshot.
public struct SnapshotRequest: Sendable {
  public enum Failure: Error, Hashable, Sendable {
    /// The recorder handles no such signal: snapshots were switched off, or the program took the signal for itself.
    case notOffered(processID: Int32)
    case cannotOpen(path: String, errno: Int32)
    case cannotSignal(processID: Int32, errno: Int32)
    /// The process ended before it answered.
    case ended(processID: Int32)
    case noAnswer(processID: Int32, seconds: Int)
    /// The recorder took it, and could not write it.
    case notWritten(processID: Int32, errno: Int32)
  }

  /// What the snapshot is for.
  public enum Purpose: Hashable, Sendable {
    case picture
    /// It is the end of a round of work that is repeated.
    case round
  }

  public let processID: Int32
  private let live: LiveRecording

  /// - Parameter live: One of the files that the process has mapped: see `PauseSwitch.liveFiles(of:)`.
  public init(processID: Int32, live: LiveRecording) {
    self.processID = processID
    self.live = live
  }

  /// Takes a snapshot, and returns its number when it is written.
  ///
  /// The signal goes to a thread that does not block it. If all do, the next allocation of any thread takes the snapshot.
  public func take(_ purpose: Purpose = .picture, waitingSeconds: Int) throws(Failure) -> UInt32 {
    let header = try SharedHeader(path: live.path, identity: live.identity)
    let signal = header.load(\.snapshotSignal)
    guard signal != 0 else { throw .notOffered(processID: processID) }
    header.store(purpose == .round ? UInt32(LT_SNAPSHOT_ROUND) : 0, to: \.snapshotReason)
    let asked = header.increment(\.snapshotsAsked)
    let switchBefore = header.load(\.pauseSwitch)
    // Paused recording stays paused.
    defer { if switchBefore == UInt32(LT_SWITCH_PAUSED) { header.store(switchBefore, to: \.pauseSwitch) } }
    let poll = 10_000, pollsASecond = 1_000_000 / poll
    for round in 0..<max(1, waitingSeconds) * pollsASecond {
      // Counts wrap around.
      if Int32(bitPattern: header.load(\.snapshotsAnswered) &- asked) >= 0 {
        let code = header.load(\.snapshotError)
        guard code == 0 else { throw .notWritten(processID: processID, errno: code) }
        return header.load(\.snapshotNumber)
      }
      // Again now and then: one that arrives while another snapshot is being written is not answered.
      if round % pollsASecond == 0 {
        do { try announce(Int32(signal), header) } catch .ended {
          // What it answered last is in the file.
          guard Int32(bitPattern: header.load(\.snapshotsAnswered) &- asked) >= 0 else { throw .ended(processID: processID) }
          continue
        }
      }
      usleep(UInt32(poll))
    }
    if header.load(\.pauseSwitch) == UInt32(LT_SWITCH_SNAPSHOT) { header.store(switchBefore, to: \.pauseSwitch) }
    throw .noAnswer(processID: processID, seconds: waitingSeconds)
  }

  private func announce(_ signal: Int32, _ header: SharedHeader) throws(Failure) {
    let threads = ThreadSignals.threads(of: processID)
    // A zombie has its thread still, without memory.
    guard !threads.isEmpty, live.isMapped(by: processID) else { throw .ended(processID: processID) }
    var code: Int32 = 0
    for thread in threads where !ThreadSignals.blocks(signal, thread: thread, of: processID) {
      if ThreadSignals.send(signal, to: thread, of: processID) { return }
      code = errno
      if code == EPERM { throw .cannotSignal(processID: processID, errno: code) }
    }
    header.store(UInt32(LT_SWITCH_SNAPSHOT), to: \.pauseSwitch)
  }
}

/// What `/proc` says about a process's threads and signals.
enum ThreadSignals {
  /// The first thread first; it is the likeliest to wait for signals.
  static func threads(of processID: Int32) -> [Int32] {
    guard let directory = opendir("/proc/\(processID)/task") else { return [] }
    defer { closedir(directory) }
    var result: [Int32] = []
    while let entry = readdir(directory) {
      if let number = Int32(directoryEntryName(entry)) { result.append(number) }
    }
    return result
  }

  /// Whether the thread blocks the signal, or has ended.
  static func blocks(_ signal: Int32, thread: Int32, of processID: Int32) -> Bool {
    let descriptor = open("/proc/\(processID)/task/\(thread)/status", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return true }
    defer { close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 8192) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      if line.hasPrefix("State:"), line.contains("Z") || line.contains("X") { return true }
      if line.hasPrefix("SigBlk:"), let mask = UInt64(line.dropFirst(7).drop { $0 == "\t" || $0 == " " }, radix: 16) {
        return mask >> UInt64(signal - 1) & 1 != 0
      }
    }
    return true
  }

  /// False with `errno` set. Older C libraries have no name for the call: then the process as a whole is signalled.
  static func send(_ signal: Int32, to thread: Int32, of processID: Int32) -> Bool {
    typealias ThreadKill = @convention(c) (Int32, Int32, Int32) -> Int32
    guard let symbol = dlsym(nil, "tgkill") else { return kill(processID, signal) == 0 }
    return unsafeBitCast(symbol, to: ThreadKill.self)(processID, thread, signal) == 0
  }
}

/// The header of a live file, mapped. Its fields are read and written whole: four aligned bytes each.
private final class SharedHeader {
  private let page: UnsafeMutableRawPointer

  init(path: String, identity: FileIdentity) throws(SnapshotRequest.Failure) {
    let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw .cannotOpen(path: path, errno: errno) }
    defer { close(descriptor) }
    var information = stat()
    guard fstat(descriptor, &information) == 0, FileIdentity(information) == identity,
      information.st_size >= off_t(LT_LIVE_HEADER_SIZE)
    else { throw .cannotOpen(path: path, errno: ESTALE) }
    let mapped = mmap(nil, Int(LT_LIVE_HEADER_SIZE), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let mapped, mapped != MAP_FAILED else { throw .cannotOpen(path: path, errno: errno) }
    page = mapped
  }

  deinit { munmap(page, Int(LT_LIVE_HEADER_SIZE)) }

  private func pointer<T>(_ field: KeyPath<lt_live_header, T>) -> UnsafeMutableRawPointer {
    page + MemoryLayout<lt_live_header>.offset(of: field)!
  }

  func load<T: BitwiseCopyable>(_ field: KeyPath<lt_live_header, T>) -> T { pointer(field).load(as: T.self) }
  func store(_ value: UInt32, to field: KeyPath<lt_live_header, UInt32>) { pointer(field).storeBytes(of: value, as: UInt32.self) }

  /// Not atomic: of two requesters at once, both may count to the same number, and then one snapshot answers them.
  func increment(_ field: KeyPath<lt_live_header, UInt32>) -> UInt32 {
    let value = load(field) &+ 1
    store(value, to: field)
    return value
  }
}

extension SnapshotRequest.Failure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notOffered(let processID):
      return "process \(processID) takes no snapshots: it was recorded with --no-snapshots, or uses the signal that asks for them itself. "
        + "Choose another with record --snapshot-signal"
    case .cannotOpen(let path, let errno): return "cannot open \(path): \(systemErrorText(errno))"
    case .cannotSignal(let processID, let errno): return "cannot send a signal to process \(processID): \(systemErrorText(errno))"
    case .ended(let processID): return "process \(processID) ended before it took the snapshot"
    case .noAnswer(let processID, let seconds):
      return "process \(processID) took no snapshot within \(seconds) seconds. All its threads may block the signal and allocate nothing; "
        + "try again with a longer --wait"
    case .notWritten(let processID, let errno):
      return "process \(processID) could not write the snapshot: \(systemErrorText(errno))"
    }
  }
}
