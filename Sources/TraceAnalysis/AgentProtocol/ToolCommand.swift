// The command line that answers a call of a tool.

import TextWriting

/// A call with valid arguments.
package struct ToolCall: Sendable {
  package let id: RequestID
  package let tool: Tool.Name
  /// By name. The values are of the parameters' kinds.
  let arguments: [String: ToolArgument]

  /// Limit of the answer in bytes.
  package var size: Int64 { number("max_bytes") ?? ToolCatalog.usualSize }
  /// Seconds after which a recorded program is stopped; nil for other tools.
  package var seconds: Int64? { tool == .record ? number("seconds") ?? ToolCatalog.usualSeconds : nil }
  /// The path of the new trace that the client has chosen; nil if it has chosen none, or if the tool makes none.
  package var newTrace: String? { tool == .record || tool == .inspect ? string("trace") : nil }
  /// Whether the tool writes a trace.
  package var makesTrace: Bool { tool == .record || tool == .inspect }

  private func string(_ name: String) -> String? {
    if case .string(let text)? = arguments[name] { text } else { nil }
  }
  private func strings(_ name: String) -> [String] {
    if case .strings(let texts)? = arguments[name] { texts } else { [] }
  }
  private func number(_ name: String) -> Int64? {
    if case .integer(let number)? = arguments[name] { number } else { nil }
  }
  private func isSet(_ name: String) -> Bool { arguments[name] == .flag(true) }

  /// Returns the arguments for `leaktrace`, without the command's own name. `newTrace`: the path of the trace to write;
  /// ignored by tools that write none. A client's text is never an option of its own.
  package func commandLine(newTrace: String) -> [String] {
    let brief = ["--format=brief-json", "--brief-size=\(size)"]
    func line(_ command: String, _ options: [String], _ operands: [String]) -> [String] {
      [command] + options + ["--"] + operands
    }
    let trace = string("trace") ?? ""
    switch tool {
    case .findings:
      let cursor = string("cursor").map { ["--brief-cursor=\($0)"] } ?? []
      return line("analyze", brief + cursor, [trace])
    case .finding:
      let fingerprint = string("fingerprint") ?? ""
      return line("analyze", brief + ["--brief-finding=\(fingerprint)"], [trace])
    case .why:
      let site = isSet("by_allocation") ? ["--site"] : []
      return line("why", brief + site, [trace, string("object") ?? ""])
    case .tasks:
      let waiting = isSet("waiting") ? ["--waiting"] : []
      return line("tasks", brief + waiting, [trace])
    case .verify:
      let fingerprints = strings("fingerprints").map { "--finding=\($0)" }
      return line("verify", brief + fingerprints, [string("old") ?? ""] + strings("new"))
    case .record: return line("record", ["--quiet", "--output=\(newTrace)"], strings("command"))
    case .inspect: return line("inspect", brief + ["--output=\(newTrace)"], ["\(number("pid") ?? 0)"])
    }
  }
}

/// The value of an argument.
enum ToolArgument: Hashable, Sendable {
  case string(String)
  case strings([String])
  case flag(Bool)
  case integer(Int64)

  fileprivate init?(_ value: JSONValue) {
    switch value {
    case .string(let text): self = .string(text)
    case .array(let values): self = .strings(values.compactMap(\.asString))
    case .bool(let flag): self = .flag(flag)
    case .integer(let number): self = .integer(number)
    default: return nil
    }
  }
}

extension ToolCall {
  /// Checks the arguments of a call against the tool's parameters.
  init(_ id: RequestID, _ tool: Tool, _ values: JSONValue) throws(ProtocolError) {
    guard case .object(let fields) = values else {
      throw .invalidParameters("The arguments of \(tool.name.rawValue) must be an object.")
    }
    var arguments: [String: ToolArgument] = [:]
    for (name, value) in fields {
      if case .null = value { continue }
      guard let parameter = tool.parameters.first(where: { $0.name == name }) else {
        let known = tool.parameters.map(\.name).joined(separator: ", ")
        throw .invalidParameters(
          "\(tool.name.rawValue) has no argument \(PlainText.escaped(String(name.prefix(100)))). It has \(known).")
      }
      guard parameter.accepts(value), let argument = ToolArgument(value) else {
        throw .invalidParameters("The argument \(name) of \(tool.name.rawValue) must be \(parameter.expectation).")
      }
      arguments[name] = argument
    }
    if let missing = tool.parameters.first(where: { $0.isRequired && arguments[$0.name] == nil }) {
      throw .invalidParameters("\(tool.name.rawValue) needs the argument \(missing.name): \(missing.expectation).")
    }
    self.init(id: id, tool: tool.name, arguments: arguments)
  }
}
