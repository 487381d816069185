// The loop of `leaktrace mcp`: reads messages, runs calls one after another, and writes responses.

import Glibc
import TraceAnalysis

/// Serves one client on standard input and output. One call runs at a time, in a process of its own, so a message about
/// another call is read at once. Ends when the input ends. For one thread.
struct AgentServer {
  /// Maximum bytes of a message.
  private static let lineLimit = 1 << 20
  /// Milliseconds between looks at a running call.
  private static let pause: Int32 = 50

  private var session: ProtocolSession
  private var framing = LineFraming(limit: lineLimit)
  private let directory: String
  private var waiting: [ToolCall] = []
  private var running: AgentCall?
  private var callCount = 0
  private var isClosed = false

  /// `traces`: the directory for new traces.
  init(_ session: ProtocolSession, traces: String) { (self.session, directory) = (session, traces) }

  /// Serves until the input ends. Returns false if the output could not be written.
  mutating func serve() -> Bool {
    // A client that has gone away is noticed by the failed write.
    signal(SIGPIPE, SIG_IGN)
    let signals = AgentSignals.watch()
    defer { running?.stop() }
    var isOpen = true
    while isOpen, !isClosed {
      startNext()
      var descriptors = [STDIN_FILENO, signals].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      descriptors += (running?.openPipes ?? []).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      let count = poll(&descriptors, nfds_t(descriptors.count), running == nil ? -1 : Self.pause)
      if count < 0, errno != EINTR { return false }
      if descriptors[1].revents != 0 {
        running?.stop()
        running = nil
        AgentSignals.end(signals)
      }
      if descriptors[0].revents != 0 { isOpen = readInput() }
      if let answer = running?.look() {
        let id = running!.call.id
        running = nil
        perform(session.finish(id, answer))
      }
    }
    return !isClosed
  }

  /// Reads the available bytes. Returns false at the end of the input.
  private mutating func readInput() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(STDIN_FILENO, &buffer, buffer.count)
    if count < 0 { return errno == EINTR || errno == EAGAIN }
    let lines = count == 0 ? framing.finish() : framing.add(buffer[..<count])
    for line in lines { perform(session.receive(line)) }
    return count > 0
  }

  private mutating func perform(_ effects: [ProtocolSession.Effect]) {
    for effect in effects {
      switch effect {
      case .send(let message): send(message)
      case .start(let call): waiting.append(call)
      case .cancel(let id):
        waiting.removeAll { $0.id == id }
        if running?.call.id == id {
          running?.stop()
          running = nil
        }
      }
    }
  }

  private mutating func startNext() {
    while running == nil, !waiting.isEmpty {
      let call = waiting.removeFirst()
      callCount += 1
      do throws(AgentCall.StartFailure) {
        running = try AgentCall(call, newTrace: call.newTrace ?? defaultTrace)
      } catch {
        perform(
          session.finish(
            call.id,
            ToolAnswer(
              text: BriefReport.failure(error.reason, size: Int(call.size)).compactText, isError: true)))
      }
    }
  }

  private var defaultTrace: String {
    "\(directory == "." ? "" : directory + (directory.hasSuffix("/") ? "" : "/"))agent-\(getpid())-\(callCount).trace"
  }

  private mutating func send(_ message: String) {
    var bytes = Array(message.utf8)[...]
    bytes.append(UInt8(ascii: "\n"))
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        isClosed = true
        return
      }
      bytes = bytes.dropFirst(count)
    }
  }
}
