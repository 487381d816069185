// Begins and ends a recording in a running process.

import CProcessCalls
import CTraceFormat
import Glibc
import ProcessInspection
import TraceReading
import TraceRecording

/// A recording that this process started in another process. If this process exits, the recording continues, but later
/// messages of the recorder are lost.
package struct Attachment {
  package let view: TargetView
  /// The path of the trace, as this process can open it.
  package let tracePath: String
  /// Nanoseconds during which all threads were stopped.
  package let pauseNanoseconds: UInt64
  private let directory: SharedDirectory

  /// Timeout of the call in milliseconds. It is long because the loader may wait for a slow disk.
  private static let callMilliseconds: UInt32 = 60_000
  /// Interval between two checks of a program that is loading its libraries.
  private static let loadingMicroseconds: UInt32 = 10_000
  /// Maximum time that the loader needs to map all parts of the C library after it has begun.
  private static let mappingTime = Duration.seconds(1)

  /// Makes the process load the recorder and start recording.
  ///
  /// - Parameters:
  ///   - settings: `output` is a pattern in the process's own view of files. Children are never followed.
  ///   - waitingSeconds: Maximum seconds to wait until a thread can make the call.
  /// - Throws: `AttachmentError`.
  package static func begin(
    in view: TargetView, settings: RecordingSettings, library: PreloadLibrary, waitingSeconds: Int
  ) throws(AttachmentError) -> Attachment {
    let process = view.processID
    if let path = view.recordedTraces().first { throw .recordsAlready(process, tracePath: path) }
    let isReadable = view.sharesFiles && view.userID == geteuid()
    let directory = try SharedDirectory(for: view, copying: isReadable ? nil : library)
    var libraries = view.sharesFiles ? [library.path] : []
    if let copy = directory.libraryCopy { libraries.append(copy) }
    let environment = RecordingEnvironment(
      settings: settings, library: library, sessionID: UInt64.random(in: 1...UInt64.max),
      messagesPath: directory.messagesPath)
    let lines = environment.variables.map { "\($0.name)=\($0.value)" }.joined(separator: "\n")
    do throws(AttachmentError) {
      let outcome = try attach(view, lines, libraries: libraries, waitingSeconds: waitingSeconds)
      directory.removeLibrary()
      try check(outcome.result, process, directory.messages(), view.recordedTraces().first)
      guard let path = view.recordedTraces().first else {
        throw .refused(process, reason: directory.messages().first ?? "")
      }
      return Attachment(
        view: view, tracePath: path, pauseNanoseconds: outcome.pauseNanoseconds, directory: directory)
    } catch {
      directory.remove()
      guard let identity = view.identity else { throw error }
      if case .inspection(let reason) = error { throw .inspection(identity.reason(for: reason)) }
      throw identity.changeMeanwhile.map { .inspection($0) } ?? error
    }
  }

  /// The recorder's messages so far.
  package func messages() -> [String] { directory.messages() }

  /// Removes the files that were needed in addition to the trace. The recording continues.
  package func forget() { directory.remove() }

  /// Ends the recording of a process, even if another process began it. Returns when its trace is complete.
  ///
  /// - Throws: `AttachmentError`.
  package static func end(in processID: Int32, waitingSeconds: Int) throws(AttachmentError) {
    do throws(InspectionError) { try TracingRights.check(processID) } catch { throw .inspection(error) }
    let wasRecorded = (try? PauseSwitch.liveFiles(of: processID)) != nil
    let outcome = try call("leaktrace_detach_visited", "", libraries: [], in: processID, waitingSeconds: waitingSeconds)
    if outcome.result == LT_ATTACH_RECORDS_NOTHING, wasRecorded { throw .preloaded(processID) }
    try check(outcome.result, processID, [], nil)
  }

  private static func check(
    _ result: Int32, _ process: Int32, _ messages: [String], _ tracePath: String?
  ) throws(AttachmentError) {
    switch Int(result) {
    case LT_ATTACH_DONE: return
    case LT_ATTACH_PRELOADED: throw .preloaded(process)
    case LT_ATTACH_RECORDS: throw .recordsAlready(process, tracePath: tracePath)
    case LT_ATTACH_NO_ALLOCATOR: throw .unsuitable(process, .noAllocator)
    case LT_ATTACH_PROCESSOR: throw .unsuitable(process, .processor)
    case LT_ATTACH_BUSY: throw .busy(process)
    case LT_ATTACH_RECORDS_NOTHING: throw .recordsNothing(process)
    default: throw .refused(process, reason: messages.last ?? "")
    }
  }

  /// Makes the call. If the program has just started, waits until it has loaded the C library. Before that, it looks
  /// like a static program.
  private static func attach(
    _ view: TargetView, _ environment: String, libraries: [String], waitingSeconds: Int
  ) throws(AttachmentError) -> lt_library_call_outcome {
    let begin = ContinuousClock.now
    while true {
      do throws(AttachmentError) {
        return try call(
          "leaktrace_attach_visited", environment, libraries: libraries, in: view.processID,
          waitingSeconds: waitingSeconds)
      } catch .unsuitable(view.processID, .static) {
        if let change = view.identity?.changeMeanwhile { throw .inspection(change) }
        guard view.asksForLoader else { throw .unsuitable(view.processID, .static) }
        guard ContinuousClock.now - begin < .seconds(waitingSeconds) else {
          throw .unsuitable(view.processID, .unloaded)
        }
      } catch .unsuitable(view.processID, .missingFunctions) {
        // The loader maps a library part by part, so the functions may be mapped a moment later.
        guard ContinuousClock.now - begin < mappingTime else { throw .unsuitable(view.processID, .missingFunctions) }
      }
      usleep(loadingMicroseconds)
    }
  }

  private static func call(
    _ function: String, _ argument: String, libraries: [String], in process: Int32, waitingSeconds: Int
  ) throws(AttachmentError) -> lt_library_call_outcome {
    var outcome = lt_library_call_outcome()
    var order = lt_library_call()
    order.waitMilliseconds = UInt32(clamping: waitingSeconds * 1000)
    order.callMilliseconds = callMilliseconds
    var texts = ([function, argument] + libraries).map { strdup($0) }
    defer { for text in texts { free(text) } }
    order.function = UnsafePointer(texts[0])
    order.argument = UnsafePointer(texts[1])
    texts += Array(repeating: nil, count: 2)
    order.libraries = (texts[2].map { UnsafePointer($0) }, texts[3].map { UnsafePointer($0) }, nil, nil)
    let result = lt_call_in_library(process, &order, &outcome)
    if result != 0 { throw error(result, outcome, process, waitingSeconds) }
    return outcome
  }

  private static func error(
    _ result: Int32, _ outcome: lt_library_call_outcome, _ process: Int32, _ seconds: Int
  ) -> AttachmentError {
    guard result > 0 else { return .inspection(.cannotCopy(process, .guardian, errno: -result)) }
    switch lt_library_call_error(UInt32(result)) {
    case LT_CALL_STATIC: return .unsuitable(process, .static)
    case LT_CALL_OTHER_LIBC: return .unsuitable(process, .otherLibrary)
    case LT_CALL_NO_FUNCTIONS: return .unsuitable(process, .missingFunctions)
    case LT_CALL_STOPPED: return .unsuitable(process, .stopped)
    case LT_CALL_BUSY: return .noMoment(process, .init(outcome.obstacles), seconds: seconds)
    case LT_CALL_NOT_LOADED:
      let reason = withUnsafeBytes(of: outcome.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      return .notLoaded(process, reason: reason)
    case LT_CALL_NOT_THERE: return .recordsNothing(process)
    case LT_CALL_OTHER_LIBRARY: return .otherVersion(process)
    case LT_CALL_LATE: return .unfinished(process, .late)
    case LT_CALL_FORBIDDEN:
      let name = withUnsafeBytes(of: outcome.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      return .unsuitable(process, .forbidden(call: name))
    case LT_CALL_FILTER_UNSEEN: return .unsuitable(process, .filtered)
    case LT_CALL_FAULT: return .unfinished(process, .fault)
    default: break
    }
    switch lt_copy_error(UInt32(result)) {
    case LT_COPY_GONE: return .inspection(.noSuchProcess(process))
    case LT_COPY_ZOMBIE: return .inspection(.unsuitable(process, .ended))
    case LT_COPY_KERNEL_THREAD: return .inspection(.unsuitable(process, .kernelThread))
    case LT_COPY_NOT_ALLOWED: return .inspection(.processRefused(process, errno: EPERM))
    case LT_COPY_TRACED: return .inspection(.unsuitable(process, .traced(by: outcome.tracer)))
    case LT_COPY_OTHER_MACHINE: return .inspection(.unsuitable(process, .otherMachine))
    case LT_COPY_NO_CALL: return .noMoment(process, .init(outcome.obstacles), seconds: seconds)
    default: return .unfinished(process, .guardian)
    }
  }
}
