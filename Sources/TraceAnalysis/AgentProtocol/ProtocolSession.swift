// The state of a connection with a client.

import TextWriting

/// The answer of a tool.
package struct ToolAnswer: Hashable, Sendable {
  package var text: String
  /// True if the tool failed, so that the agent can correct its call.
  package var isError: Bool

  package init(text: String, isError: Bool = false) { (self.text, self.isError) = (text, isError) }
}

/// Decides what each message of a client does. Has no side effects: the caller carries out the returned effects in
/// order. For one thread at a time.
package struct ProtocolSession {
  package enum Effect: Sendable {
    /// Send this message, on one line.
    case send(String)
    /// Start this call, and pass its answer to `finish`.
    case start(ToolCall)
    /// Stop this call. It gets no response.
    case cancel(RequestID)
  }

  /// The supported revisions of the protocol, the newest first.
  package static let revisions = ["2025-06-18", "2025-03-26", "2024-11-05"]
  /// The only revision that has batches of messages.
  private static let revisionWithBatches = "2025-03-26"
  /// Maximum number of messages in a batch, and of calls that wait.
  private static let callLimit = 64

  private let tools: ToolCatalog
  private let toolVersion: String
  /// The agreed revision; nil before `initialize`.
  package private(set) var revision: String?
  /// The calls without a response, with the number of their batch.
  private var calls: [RequestID: Int?] = [:]
  private var batches: [Int: Batch] = [:]
  private var batchCount = 0

  /// The responses to a batch, which are sent together.
  private struct Batch {
    var responses: [JSONValue] = []
    var pending = 0
  }

  package init(tools: ToolCatalog, toolVersion: String) { (self.tools, self.toolVersion) = (tools, toolVersion) }

  /// Returns the effects of a line from the client.
  package mutating func receive(_ line: LineFraming.Line) -> [Effect] {
    guard case .bytes(let bytes) = line else {
      return [Self.send(ProtocolError.invalidRequest("the line is too long.").response(to: nil))]
    }
    guard let value = JSONParsing.value(bytes) else { return [Self.send(ProtocolError.parsing.response(to: nil))] }
    guard case .array(let messages) = value else {
      var effects: [Effect] = []
      if let response = receive(ProtocolMessage(value), batch: nil, &effects) { effects.append(Self.send(response)) }
      return effects
    }
    return receive(messages)
  }

  /// Returns the effects of an answer. A cancelled call has none.
  package mutating func finish(_ id: RequestID, _ answer: ToolAnswer) -> [Effect] {
    guard let batch = calls.removeValue(forKey: id) else { return [] }
    let response = Self.response(to: id, Self.result(answer))
    guard let batch else { return [Self.send(response)] }
    batches[batch]?.responses.append(response)
    batches[batch]?.pending -= 1
    return complete(batch)
  }

  // MARK: Batches

  private mutating func receive(_ messages: [JSONValue]) -> [Effect] {
    guard revision == Self.revisionWithBatches, (1...Self.callLimit).contains(messages.count) else {
      let reason =
        revision == Self.revisionWithBatches
        ? "a batch has 1 to \(Self.callLimit) messages." : "this revision of the protocol has no batches."
      return [Self.send(ProtocolError.invalidRequest(reason).response(to: nil))]
    }
    batchCount += 1
    let number = batchCount
    batches[number] = Batch()
    var effects: [Effect] = []
    for message in messages {
      if let response = receive(ProtocolMessage(message), batch: number, &effects) {
        batches[number]?.responses.append(response)
      }
    }
    return effects + complete(number)
  }

  /// Sends the responses of a batch if no call of it is left.
  private mutating func complete(_ number: Int) -> [Effect] {
    guard let batch = batches[number], batch.pending == 0 else { return [] }
    batches[number] = nil
    return batch.responses.isEmpty ? [] : [Self.send(.array(batch.responses))]
  }

  // MARK: Messages

  /// Returns the response that is known at once; nil if there is none.
  private mutating func receive(_ message: ProtocolMessage, batch: Int?, _ effects: inout [Effect]) -> JSONValue? {
    switch message {
    case .response: return nil
    case .invalid(let id):
      return ProtocolError.invalidRequest(
        "a message needs jsonrpc \"2.0\", a method, and an id that is a string or an integer."
      )
      .response(to: id)
    case .notification(let method, let parameters):
      if method == "notifications/cancelled" { cancel(parameters, &effects) }
      return nil
    case .request(let id, let method, let parameters):
      do throws(ProtocolError) {
        return try answer(id, method, parameters, batch: batch, &effects).map { Self.response(to: id, $0) }
      } catch {
        return error.response(to: id)
      }
    }
  }

  /// Returns the result of a request; nil if a call has started.
  private mutating func answer(
    _ id: RequestID, _ method: String, _ parameters: JSONValue, batch: Int?, _ effects: inout [Effect]
  ) throws(ProtocolError) -> JSONValue? {
    switch method {
    case "ping": return .object([])
    case "initialize":
      guard batch == nil, revision == nil else { throw .invalidRequest("the session is initialized already.") }
      return initialize(parameters)
    case "tools/list", "tools/call":
      guard revision != nil else { throw .invalidRequest("send initialize first.") }
      guard method == "tools/call" else {
        // All tools fit on one page, so no cursor is valid.
        if let cursor = parameters["cursor"], cursor.asString != nil {
          throw .invalidParameters("The cursor is not valid.")
        }
        return tools.list
      }
      return try call(id, parameters, batch: batch, &effects)
    default: throw .unknownMethod(method)
    }
  }

  /// Agrees on the client's revision if it is supported, and otherwise offers the newest.
  private mutating func initialize(_ parameters: JSONValue) -> JSONValue {
    let asked = parameters["protocolVersion"]?.asString
    let agreed = asked.flatMap { Self.revisions.contains($0) ? $0 : nil } ?? Self.revisions[0]
    revision = agreed
    return .object([
      ("protocolVersion", .string(agreed)),
      ("capabilities", .object([("tools", .object([]))])),
      (
        "serverInfo",
        .object([
          ("name", .string("leaktrace")), ("title", .string("leaktrace")), ("version", .string(toolVersion)),
        ])
      ),
      (
        "instructions",
        .string(
          "leaktrace finds leaks of Swift programs on Linux. Call findings with a trace, then finding with a fingerprint, and why for a type. After a fix, record the same work again and call verify. An absent leak is fixed only if verify answers gone."
        )
      ),
    ])
  }

  private mutating func call(
    _ id: RequestID, _ parameters: JSONValue, batch: Int?, _ effects: inout [Effect]
  ) throws(ProtocolError) -> JSONValue? {
    guard let name = parameters["name"]?.asString else {
      throw .invalidParameters("tools/call needs the name of a tool.")
    }
    guard let tool = tools.tool(named: name) else {
      throw .invalidParameters("Unknown tool: \(PlainText.escaped(String(name.prefix(100))))")
    }
    guard calls[id] == nil else { throw .invalidRequest("another call with this id is not finished.") }
    guard calls.count < Self.callLimit else { throw .invalidRequest("\(Self.callLimit) calls wait already.") }
    let call = try ToolCall(id, tool, parameters["arguments"] ?? .object([]))
    guard tools.isAllowed(tool) else { return Self.result(ToolAnswer(text: ToolCatalog.refusal(tool), isError: true)) }
    calls[id] = .some(batch)
    if let batch { batches[batch]?.pending += 1 }
    effects.append(.start(call))
    return nil
  }

  private mutating func cancel(_ parameters: JSONValue, _ effects: inout [Effect]) {
    // A call that has ended may be cancelled too late, so that is no error.
    guard let id = parameters["requestId"].flatMap(RequestID.init), let batch = calls.removeValue(forKey: id) else {
      return
    }
    effects.append(.cancel(id))
    guard let batch else { return }
    batches[batch]?.pending -= 1
    effects += complete(batch)
  }

  // MARK: Responses

  private static func result(_ answer: ToolAnswer) -> JSONValue {
    .object([
      ("content", .array([.object([("type", .string("text")), ("text", .string(answer.text))])])),
      ("isError", .bool(answer.isError)),
    ])
  }

  private static func response(to id: RequestID, _ result: JSONValue) -> JSONValue {
    .object([("jsonrpc", .string("2.0")), ("id", id.value), ("result", result)])
  }

  private static func send(_ message: JSONValue) -> Effect { .send(message.compactText) }
}
