// Requesting a heap snapshot from a process that is being recorded.

import CProcessCalls
import CTraceFormat
import Glibc
import TextWriting
import TraceReading

/// A request for a snapshot to the recorder inside a process. The live file counts requests and answers.
///
/// For one thread at a time. If two processes request a snapshot simultaneously, one snapshot may answer both.
package struct SnapshotRequest: Sendable {
  package enum Failure: Error, Hashable, Sendable {
    /// The recorder takes no snapshots on request: they were switched off, or the program uses the signal itself.
    case notOffered(processID: Int32)
    case cannotOpen(path: String, errno: Int32)
    case cannotSignal(processID: Int32, errno: Int32)
    /// The process ended before it answered.
    case ended(processID: Int32)
    case noAnswer(processID: Int32, seconds: Int)
    /// The recorder took the snapshot, but could not write it.
    case notWritten(processID: Int32, errno: Int32)
  }

  /// The purpose of the snapshot.
  package enum Purpose: Hashable, Sendable {
    case picture
    /// The snapshot ends a round of repeated work.
    case round
  }

  package let processID: Int32
  private let live: LiveRecording

  /// - Parameter live: A live file that the process has mapped; see `PauseSwitch.liveFiles(of:)`.
  package init(processID: Int32, live: LiveRecording) {
    self.processID = processID
    self.live = live
  }

  /// Requests a snapshot, and returns the snapshot's number after it was written.
  ///
  /// Tries three ways in order:
  ///
  /// - Makes the process start a thread that takes the snapshot. This needs the right to trace the process, and a
  ///   thread that waits in a system call.
  /// - Makes the next hook take the snapshot, if a hook is called soon.
  /// - Sends a signal, for a process that may not be traced and calls no hooks. The signal ends calls such as `sleep`
  ///   early.
  ///
  /// Repeats the request from time to time, because a process does not answer while it writes another snapshot.
  package func take(_ purpose: Purpose = .picture, waitingSeconds: Int) throws(Failure) -> UInt32 {
    let header = try SharedHeader(path: live.path, identity: live.identity)
    guard header.load(\.snapshotSignal) != 0 || header.load(\.servingCall) != 0 else {
      throw .notOffered(processID: processID)
    }
    header.store(purpose == .round ? UInt32(LT_SNAPSHOT_ROUND) : 0, to: \.snapshotReason)
    let asked = header.increment(\.snapshotsAsked)
    let deadline = Deadline(seconds: waitingSeconds)
    while !deadline.isPast {
      do throws(Failure) {
        // Try the next way only if the previous way is impossible. Do not try it because an answer is late: writing a
        // heap image may take long.
        for way in [Self.askByThread, Self.askBySwitch, Self.askBySignal] where !isAnswered(asked, in: header) {
          if try way(self)(header, deadline) == .asked { break }
        }
      } catch .ended {
        // The process may have answered before it ended.
        guard isAnswered(asked, in: header) else { throw .ended(processID: processID) }
      }
      if awaitAnswer(to: asked, in: header, milliseconds: Self.repeatMilliseconds, deadline) {
        return try answer(in: header)
      }
    }
    throw .noAnswer(processID: processID, seconds: waitingSeconds)
  }

  // MARK: Ways to ask

  private enum Attempt { case asked, impossible }

  /// A busy process calls a hook within this time, in milliseconds.
  private static let busyMilliseconds = 50
  /// The time to wait for a heap image before the request is repeated, in milliseconds.
  private static let repeatMilliseconds = 1000

  /// Makes the process start a thread that takes the snapshot.
  private func askByThread(_ header: SharedHeader, _ deadline: Deadline) throws(Failure) -> Attempt {
    ServingThread(header: header).start(in: processID) ? .asked : .impossible
  }

  /// Makes the next hook that any thread calls take the snapshot. Not possible for a paused recording, because the
  /// recording would resume until the snapshot.
  private func askBySwitch(_ header: SharedHeader, _ deadline: Deadline) throws(Failure) -> Attempt {
    let (record, snapshot) = (UInt32(LT_SWITCH_RECORD), UInt32(LT_SWITCH_SNAPSHOT))
    guard header.change(\.pauseSwitch, from: record, to: snapshot) else { return .impossible }
    awaitHook(header, milliseconds: Self.busyMilliseconds, deadline)
    return header.change(\.pauseSwitch, from: snapshot, to: record) ? .impossible : .asked
  }

  /// Sends the signal to a thread that does not block it. If all threads block it, requests the snapshot from the next
  /// hook again, even if the recording is paused.
  private func askBySignal(_ header: SharedHeader, _ deadline: Deadline) throws(Failure) -> Attempt {
    let threads = ProcessThreads.threads(of: processID)
    // A zombie still has a thread, but no mappings.
    guard !threads.isEmpty, live.isMapped(by: processID) else { throw .ended(processID: processID) }
    if let signal = Int32(exactly: header.load(\.snapshotSignal)), signal > 0, try send(signal, to: threads) {
      return .asked
    }
    let before = header.load(\.pauseSwitch), snapshot = UInt32(LT_SWITCH_SNAPSHOT)
    header.store(snapshot, to: \.pauseSwitch)
    awaitHook(header, milliseconds: Self.repeatMilliseconds, deadline)
    // A paused recording stays paused.
    if before == UInt32(LT_SWITCH_PAUSED) {
      header.store(before, to: \.pauseSwitch)
    } else {
      _ = header.change(\.pauseSwitch, from: snapshot, to: before)
    }
    return .asked
  }

  /// Waits until a hook has taken the request and reset the switch, or until the time has passed.
  private func awaitHook(_ header: SharedHeader, milliseconds: Int, _ deadline: Deadline) {
    for _ in 0..<milliseconds where header.load(\.pauseSwitch) == UInt32(LT_SWITCH_SNAPSHOT) && !deadline.isPast {
      usleep(1_000)
    }
  }

  private func send(_ signal: Int32, to threads: [Int32]) throws(Failure) -> Bool {
    for thread in threads where !ProcessThreads.blocks(signal, thread: thread, of: processID) {
      if ProcessThreads.send(signal, to: thread, of: processID) { return true }
      if errno == EPERM { throw .cannotSignal(processID: processID, errno: errno) }
    }
    return false
  }

  // MARK: The answer

  /// Returns whether the request with number `asked` was answered. The counters may wrap around.
  private func isAnswered(_ asked: UInt32, in header: SharedHeader) -> Bool {
    Int32(bitPattern: header.load(\.snapshotsAnswered) &- asked) >= 0
  }

  private func answer(in header: SharedHeader) throws(Failure) -> UInt32 {
    let code = header.load(\.snapshotError)
    guard code == 0 else { throw .notWritten(processID: processID, errno: code) }
    return header.load(\.snapshotNumber)
  }

  /// Waits for an answer. Returns false if there is none in time.
  private func awaitAnswer(to asked: UInt32, in header: SharedHeader, milliseconds: Int, _ deadline: Deadline) -> Bool {
    for _ in 0..<milliseconds {
      if isAnswered(asked, in: header) { return true }
      if deadline.isPast { break }
      usleep(1_000)
    }
    return isAnswered(asked, in: header)
  }

  private struct Deadline {
    let instant: ContinuousClock.Instant
    init(seconds: Int) { instant = .now + .seconds(max(1, seconds)) }
    var isPast: Bool { .now > instant }
  }
}

/// The thread that a process starts to take a requested snapshot: see Sources/CTraceShim/image/heap_snapshot.c.
private struct ServingThread {
  let header: SharedHeader

  /// The maximum wait in milliseconds, until the thread of an earlier request has exited, and until a tracer that stops
  /// the process for a heap image has detached.
  private static let turnMilliseconds = 1000

  /// Starts the thread. Returns false if the process cannot start such a thread, or may not be traced. Returns true if
  /// the thread runs for this request, or is still in use by another request.
  func start(in processID: Int32) -> Bool {
    let call = header.load(\.servingCall)
    guard call != 0 else { return false }
    guard claim(in: processID) else { return true }
    header.store(0, to: \.servingMayBegin)
    var order = lt_thread_order(
      call: call, flags: header.load(\.servingFlags), stack: header.load(\.servingStack),
      threadWord: header.load(\.servingWord),
      threadPointer: header.load(\.servingThreadPointer))
    for _ in 0..<Self.turnMilliseconds {
      let isBusy = ProcessThreads.threads(of: processID).contains { ProcessThreads.isTraced($0, of: processID) }
      for thread in ProcessThreads.threads(of: processID) where ProcessThreads.mayBeTraced(thread, of: processID) {
        // If this thread cannot be used, try another thread that waits in a system call.
        if lt_order_thread(thread, &order) == 0 {
          header.store(1, to: \.servingMayBegin)
          return true
        }
      }
      guard
        isBusy || ProcessThreads.threads(of: processID).contains(where: { ProcessThreads.isTraced($0, of: processID) })
      else { break }
      usleep(1_000)
    }
    _ = header.change(\.servingThread, from: UInt32(getpid()), to: 0)
    return false
  }

  /// Claims the thread's stack for this process, after the stack's current user has finished or exited. Returns false
  /// if that takes too long.
  private func claim(in processID: Int32) -> Bool {
    for _ in 0..<Self.turnMilliseconds {
      let owner = header.load(\.servingThread)
      let isFree =
        owner == 0
        || (kill(Int32(bitPattern: owner), 0) != 0 && errno == ESRCH
          && !ProcessThreads.exists(Int32(bitPattern: owner), of: processID))
      if isFree, header.change(\.servingThread, from: owner, to: UInt32(getpid())) { return true }
      usleep(1_000)
    }
    return false
  }
}

/// Reads the files of `/proc` about a process's threads.
enum ProcessThreads {
  /// Returns the IDs of a process's threads. The main thread comes first; it is the most likely to wait for signals.
  static func threads(of processID: Int32) -> [Int32] {
    guard let directory = opendir("/proc/\(processID)/task") else { return [] }
    defer { closedir(directory) }
    var result: [Int32] = []
    while let entry = readdir(directory) {
      if let number = Int32(directoryEntryName(entry)) { result.append(number) }
    }
    return result
  }

  /// Returns whether the thread blocks the signal, or has ended.
  static func blocks(_ signal: Int32, thread: Int32, of processID: Int32) -> Bool {
    let status = status(of: thread, processID)
    guard let state = status["State"], !state.hasPrefix("Z"), !state.hasPrefix("X"),
      let mask = status["SigBlk"].flatMap({ UInt64($0, radix: 16) })
    else { return true }
    return mask >> UInt64(signal - 1) & 1 != 0
  }

  /// Returns whether the thread waits in a system call that a tracer may interrupt, and has no system-call filter. A
  /// filter could forbid the new call.
  static func mayBeTraced(_ thread: Int32, of processID: Int32) -> Bool {
    let status = status(of: thread, processID)
    return status["State"]?.hasPrefix("S") == true && status["Seccomp"] == "0" && status["Name"] != "leaktrace"
  }

  /// Returns whether a process traces the thread.
  static func isTraced(_ thread: Int32, of processID: Int32) -> Bool {
    status(of: thread, processID)["TracerPid"].map { $0 != "0" } ?? false
  }

  static func exists(_ thread: Int32, of processID: Int32) -> Bool {
    access("/proc/\(processID)/task/\(thread)", F_OK) == 0
  }

  /// Returns the fields of a thread's status; none if the thread is gone.
  private static func status(of thread: Int32, _ processID: Int32) -> [Substring: Substring] {
    let descriptor = open("/proc/\(processID)/task/\(thread)/status", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [:] }
    defer { close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 8192) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map {
      $0.split(separator: ":", maxSplits: 1)
    }
    return Dictionary(
      fields.compactMap { $0.count == 2 ? ($0[0], $0[1].drop { $0 == "\t" || $0 == " " }) : nil },
      uniquingKeysWith: { first, _ in first })
  }

  /// Sends a signal to a thread. Returns false with `errno` set if that fails. Older C libraries have no function for
  /// this. The signal then goes to the whole process.
  static func send(_ signal: Int32, to thread: Int32, of processID: Int32) -> Bool {
    typealias ThreadKill = @convention(c) (Int32, Int32, Int32) -> Int32
    guard let symbol = dlsym(nil, "tgkill") else { return kill(processID, signal) == 0 }
    return unsafeBitCast(symbol, to: ThreadKill.self)(processID, thread, signal) == 0
  }
}

/// The mapped header of a live file. A field has four aligned bytes, so a load or store of a field is never split.
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
  func store(_ value: UInt32, to field: KeyPath<lt_live_header, UInt32>) {
    pointer(field).storeBytes(of: value, as: UInt32.self)
  }

  /// Changes a field from `expected` to `desired` atomically. Returns false if the field has another value.
  func change(_ field: KeyPath<lt_live_header, UInt32>, from expected: UInt32, to desired: UInt32) -> Bool {
    lt_change_word(pointer(field).assumingMemoryBound(to: UInt32.self), expected, desired)
  }

  /// Increments a field atomically, and returns the new value.
  func increment(_ field: KeyPath<lt_live_header, UInt32>) -> UInt32 {
    while true {
      let value = load(field)
      if change(field, from: value, to: value &+ 1) { return value &+ 1 }
    }
  }
}

extension SnapshotRequest.Failure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notOffered(let processID):
      return
        "process \(processID) takes no snapshots: it was recorded with --no-snapshots, or uses the request signal itself. "
        + "Choose another with record --snapshot-signal"
    case .cannotOpen(let path, let errno): return "cannot open \(path): \(systemErrorText(errno))"
    case .cannotSignal(let processID, let errno):
      return "cannot send a signal to process \(processID): \(systemErrorText(errno))"
    case .ended(let processID): return "process \(processID) ended before it took the snapshot"
    case .noAnswer(let processID, let seconds):
      return
        "process \(processID) took no snapshot within \(seconds) seconds. All its threads may block the signal without allocating, or compute without a call; "
        + "try again with a longer --wait"
    case .notWritten(let processID, let errno):
      return "process \(processID) could not write the snapshot: \(FailedSnapshot(number: 0, error: errno).explanation)"
    }
  }
}
