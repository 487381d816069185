// Messages of JSON-RPC 2.0.

import TextWriting

/// The number or text that a client gives to a request. The response has the same.
package enum RequestID: Hashable, Sendable {
  case number(Int64)
  case text(String)

  init?(_ value: JSONValue) {
    switch value {
    case .integer(let number): self = .number(number)
    case .string(let text): self = .text(text)
    default: return nil
    }
  }

  var value: JSONValue {
    switch self {
    case .number(let number): .integer(number)
    case .text(let text): .string(text)
    }
  }
}

/// A message from a client.
enum ProtocolMessage {
  case request(RequestID, method: String, parameters: JSONValue)
  case notification(method: String, parameters: JSONValue)
  /// The answer to a request of the server, which sends none.
  case response
  /// Not a valid message. The ID is nil if it could not be read.
  case invalid(RequestID?)

  /// Reads a message from a value that is no batch.
  init(_ value: JSONValue) {
    guard case .object = value, value["jsonrpc"]?.asString == "2.0" else {
      self = .invalid(value["id"].flatMap(RequestID.init))
      return
    }
    let id = value["id"]
    guard let method = value["method"] else {
      self = value["result"] != nil || value["error"] != nil ? .response : .invalid(id.flatMap(RequestID.init))
      return
    }
    let parameters = value["params"] ?? .object([])
    guard case .string(let name) = method, case .object = parameters else {
      self = .invalid(id.flatMap(RequestID.init))
      return
    }
    guard let id else {
      self = .notification(method: name, parameters: parameters)
      return
    }
    // The protocol allows no null as an ID, other than JSON-RPC.
    self = RequestID(id).map { .request($0, method: name, parameters: parameters) } ?? .invalid(nil)
  }
}

/// An error of JSON-RPC, with the numbers of its specification.
package struct ProtocolError: Error, Hashable, Sendable {
  var code: Int64
  var message: String

  static let parsing = ProtocolError(code: -32700, message: "Parse error: a message must be one line of valid JSON.")
  static func invalidRequest(_ reason: String) -> Self { Self(code: -32600, message: "Invalid request: \(reason)") }
  static func unknownMethod(_ name: String) -> Self {
    Self(code: -32601, message: "Method not found: \(name.prefix(100))")
  }
  static func invalidParameters(_ reason: String) -> Self { Self(code: -32602, message: reason) }

  func response(to id: RequestID?) -> JSONValue {
    .object([
      ("jsonrpc", .string("2.0")), ("id", id?.value ?? .null),
      ("error", .object([("code", .integer(code)), ("message", .string(message))])),
    ])
  }
}
