// The tools that an agent can call.

import TextWriting

/// A parameter of a tool.
package struct ToolParameter: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case string
    case strings
    case flag
    case integer(ClosedRange<Int64>)
  }

  var name: String
  var kind: Kind
  var isRequired = false
  var description: String

  fileprivate var schema: JSONValue {
    var fields: [(String, JSONValue)]
    switch kind {
    case .string: fields = [("type", .string("string"))]
    case .strings:
      fields = [
        ("type", .string("array")), ("items", .object([("type", .string("string"))])), ("minItems", .integer(1)),
      ]
    case .flag: fields = [("type", .string("boolean"))]
    case .integer(let range):
      fields = [
        ("type", .string("integer")), ("minimum", .integer(range.lowerBound)), ("maximum", .integer(range.upperBound)),
      ]
    }
    return .object(fields + [("description", .string(description))])
  }

  /// Returns whether a value is valid for this parameter.
  func accepts(_ value: JSONValue) -> Bool {
    switch (kind, value) {
    case (.string, .string(let text)): !text.isEmpty && !text.utf8.contains(0)
    case (.strings, .array(let values)):
      !values.isEmpty && values.allSatisfy { $0.asString.map { !$0.utf8.contains(0) } ?? false }
    case (.flag, .bool): true
    case (.integer(let range), .integer(let number)): range.contains(number)
    default: false
    }
  }

  /// Describes the valid values.
  var expectation: String {
    switch kind {
    case .string: "a string that is not empty"
    case .strings: "an array of strings that is not empty"
    case .flag: "true or false"
    case .integer(let range): "an integer from \(range.lowerBound) to \(range.upperBound)"
    }
  }
}

/// A tool, as clients see it.
package struct Tool: Hashable, Sendable {
  package enum Name: String, CaseIterable, Hashable, Sendable {
    case findings, finding, why, tasks, verify, record, inspect
  }

  /// The permission that a tool needs. The user gives it with a flag of the command.
  package enum Permission: String, CaseIterable, Hashable, Sendable {
    case record, inspect

    package var flag: String { "--allow-\(rawValue)" }
  }

  var name: Name
  var title: String
  var description: String
  var parameters: [ToolParameter]
  var permission: Permission?
}

/// All tools, with the permissions of this session.
package struct ToolCatalog: Sendable {
  package let allowed: Set<Tool.Permission>

  package init(allowed: Set<Tool.Permission>) { self.allowed = allowed }

  /// Bytes of an answer: the usual limit, and the range of limits that a client may ask for.
  package static let (usualSize, sizes): (Int64, ClosedRange<Int64>) = (4096, 1024...(1 << 20))
  /// Seconds that a recorded program may run: the usual time, and the range.
  package static let (usualSeconds, seconds): (Int64, ClosedRange<Int64>) = (60, 1...86_400)

  func tool(named name: String) -> Tool? {
    Tool.Name(rawValue: name).flatMap { name in Self.all.first { $0.name == name } }
  }

  func isAllowed(_ tool: Tool) -> Bool { tool.permission.map(allowed.contains) ?? true }

  /// The sentence that refuses a tool without its permission.
  static func refusal(_ tool: Tool) -> String {
    "\(tool.name.rawValue) is off: start the server with 'leaktrace mcp \(tool.permission?.flag ?? "")' to allow it."
  }

  /// The result of `tools/list`.
  var list: JSONValue {
    .object([
      (
        "tools",
        .array(
          Self.all.map { tool in
            let off = isAllowed(tool) ? "" : " \(Self.refusal(tool))"
            return .object([
              ("name", .string(tool.name.rawValue)), ("title", .string(tool.title)),
              ("description", .string(tool.description + off)), ("inputSchema", Self.schema(tool)),
              (
                "annotations",
                .object([
                  ("readOnlyHint", .bool(tool.permission == nil)),
                  ("destructiveHint", .bool(tool.permission == .record)),
                  ("idempotentHint", .bool(tool.permission == nil)),
                  ("openWorldHint", .bool(tool.permission == .record)),
                ])
              ),
            ])
          })
      )
    ])
  }

  private static func schema(_ tool: Tool) -> JSONValue {
    .object([
      ("type", .string("object")),
      ("properties", .object(tool.parameters.map { ($0.name, $0.schema) })),
      ("required", .array(tool.parameters.filter(\.isRequired).map { .string($0.name) })),
      ("additionalProperties", .bool(false)),
    ])
  }

  private static let trace = ToolParameter(
    name: "trace", kind: .string, isRequired: true,
    description: "Path of a trace, such as one that record or inspect has written.")
  private static let size = ToolParameter(
    name: "max_bytes", kind: .integer(sizes), description: "Limit of the answer in bytes (default: \(usualSize)).")
  private static let output = ToolParameter(
    name: "trace", kind: .string, description: "Path for the new trace. The file must not exist (default: a new name).")

  static let all: [Tool] = [
    Tool(
      name: .findings, title: "List leaks",
      description:
        "Lists the leaks in a trace, ten at a time, the ones that matter most first. Continue with the cursor of the answer.",
      parameters: [
        trace,
        ToolParameter(name: "cursor", kind: .string, description: "The cursor of an earlier answer."),
        size,
      ]),
    Tool(
      name: .finding, title: "Explain one leak",
      description:
        "Explains one leak: the references that keep the objects, the source lines, and advice on what to change.",
      parameters: [
        trace,
        ToolParameter(
          name: "fingerprint", kind: .string, isRequired: true,
          description: "The finding's fingerprint from findings, or its beginning."),
        size,
      ]),
    Tool(
      name: .why, title: "Ask what keeps objects alive",
      description: "Shows what keeps the objects of a type alive, field by field, from a variable or a stack.",
      parameters: [
        trace,
        ToolParameter(
          name: "object", kind: .string, isRequired: true,
          description: "A type (part of the name, or a glob), or an address such as 0x7f12."),
        ToolParameter(
          name: "by_allocation", kind: .flag, description: "Match the name against the allocating functions instead."),
        size,
      ]),
    Tool(
      name: .tasks, title: "List tasks",
      description:
        "Lists the tasks in a trace: their states, the lines where they wait, who can resume them, and deadlocks. Use inspect first for a running process.",
      parameters: [
        trace,
        ToolParameter(name: "waiting", kind: .flag, description: "List only waiting tasks."),
        size,
      ]),
    Tool(
      name: .verify, title: "Verify a fix",
      description:
        "Says for each leak of an old trace whether it is gone in new ones: gone, fewer, same, worse, flaky, not exercised or not known. Lists new leaks. Several new traces of one build tell flaky from fixed.",
      parameters: [
        ToolParameter(
          name: "old", kind: .string, isRequired: true, description: "Path of the trace that has the leaks."),
        ToolParameter(
          name: "new", kind: .strings, isRequired: true, description: "Paths of traces of the build with the fix."),
        ToolParameter(
          name: "fingerprints", kind: .strings, description: "Answer only for these findings of the old trace."),
        size,
      ]),
    Tool(
      name: .record, title: "Record a program",
      description:
        "Runs a program and records it to a trace. A program that still runs when the time is over gets SIGTERM; its leaks are in the trace all the same.",
      parameters: [
        ToolParameter(
          name: "command", kind: .strings, isRequired: true,
          description: "The program and its arguments, without a shell."),
        output,
        ToolParameter(
          name: "seconds", kind: .integer(seconds),
          description: "Time after which the program is stopped (default: \(usualSeconds))."),
        size,
      ], permission: .record),
    Tool(
      name: .inspect, title: "Inspect a running process",
      description:
        "Copies a running process without stopping it for more than milliseconds, writes the copy to a trace, and lists its leaks.",
      parameters: [
        ToolParameter(
          name: "pid", kind: .integer(1...Int64(Int32.max)), isRequired: true,
          description: "Number of the process."),
        output, size,
      ], permission: .inspect),
  ]
}
