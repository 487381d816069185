// The tasks of a heap image as JSON, as docs/report-schema.md describes them.

import LeakDetection
import TextWriting
import TraceReading
import TraceSymbolication
import Wording

/// Renders an inventory of tasks as one JSON document. Formats only; makes no decisions.
package enum TaskJSON {
  /// The version of the format. Raised if a field changes its meaning or is removed, but not if a field is added.
  package static let schemaVersion: UInt64 = 1

  package static func text(_ inventory: TaskInventory, snapshot: TraceSnapshot, remarks: [String]) -> String {
    value(inventory, snapshot: snapshot, remarks: remarks).text + "\n"
  }

  static func value(_ inventory: TaskInventory, snapshot: TraceSnapshot, remarks: [String]) -> JSONValue {
    .object([
      ("schema", .string("leaktrace.tasks")),
      ("schemaVersion", .number(schemaVersion)),
      ("snapshotNumber", .number(UInt64(snapshot.number))),
      ("summary", .string(TaskWords.summary(inventory))),
      (
        "states",
        .object(TaskInventory.State.allCases.map { ($0.rawValue, .number(UInt64(inventory.count(of: $0)))) })
      ),
      ("starved", .bool(inventory.isStarved)),
      (
        "deadlocks",
        .array(
          inventory.deadlocks.map { deadlock in
            .object([
              ("threads", .array(deadlock.threads.map { .number(UInt64($0)) })),
              ("tasks", .array(deadlock.tasks.map { .number(UInt64($0)) })),
            ])
          })
      ),
      ("obstacle", .optional(inventory.obstacle)),
      ("rows", .array(inventory.rows.map(value))),
      ("actors", .array(inventory.actors.map(value))),
      ("tree", .array(TaskTree(inventory).nodes.map(value))),
      ("tasks", .array(inventory.tasks.map(value))),
      ("threads", .array(inventory.threads.map(value))),
      ("remarks", .array(remarks.map { .string($0) })),
    ])
  }

  private static func value(_ row: TaskInventory.Row) -> JSONValue {
    var fields: [(String, JSONValue)] = [
      ("state", .string(row.state.rawValue)), ("count", .number(UInt64(row.count))),
      ("title", .string(TaskWords.title(row))), ("cancelled", .bool(row.isCancelled)),
      ("priority", row.priority.map { .number(UInt64($0)) } ?? .null), ("wait", .optional(row.wait?.key)),
    ]
    switch row.wait {
    case .actor(let type)?: fields.append(("actor", .string(type)))
    case .task(let function)?, .child(let function)?: fields.append(("awaited", function.map(value) ?? .null))
    default: break
    }
    fields.append(("resumedBy", .optional(row.resumer?.key)))
    if case .holder(let name, let origin)? = row.resumer {
      fields += [("holder", .string(name)), ("root", .string(origin))]
    }
    fields += [
      ("stack", .array(row.stack.map(value))), ("function", row.function.map(value) ?? .null),
      ("names", .array(row.names.map { .string($0) })),
      (
        "taskLocals",
        .array(row.locals.map { .object([("variable", .optional($0.variable)), ("type", .string($0.type))]) })
      ), ("creator", row.creator.map(value) ?? .null), ("parent", row.parent.map(value) ?? .null),
      ("groupChild", row.isGroupChild.map { .bool($0) } ?? .null), ("bytes", .number(row.bytes)),
      ("retainedBytes", .number(row.retainedBytes)), ("youngestSeconds", .optional(row.ages?.lowerBound)),
      ("oldestSeconds", .optional(row.ages?.upperBound)),
      ("sleepSecondsLeft", row.sleepLeft.map { .array([.decimal($0.lowerBound), .decimal($0.upperBound)]) } ?? .null),
    ]
    return .object(fields)
  }

  private static func value(_ actor: TaskInventory.Actor) -> JSONValue {
    .object([
      ("address", .address(actor.address.rawValue)), ("type", .string(actor.type)),
      ("queue", .array(actor.queue.map { .number(UInt64($0)) })),
      ("thread", actor.thread.map { .number(UInt64($0)) } ?? .null), ("grows", .bool(actor.grows)),
      ("earlier", actor.earlier.map(value) ?? .null),
    ])
  }

  /// Returns the actors of an inventory with the length of each queue, and the thread that runs the actor.
  static func queues(_ inventory: TaskInventory) -> [JSONValue] {
    inventory.actors.map { actor in
      .object([
        ("address", .address(actor.address.rawValue)), ("type", .string(actor.type)),
        ("count", .number(UInt64(actor.queue.count))), ("earlier", actor.earlier.map(value) ?? .null),
        ("thread", actor.thread.map { value(inventory.threads[$0]) } ?? .null),
      ])
    }
  }

  private static func value(_ queue: TaskInventory.EarlierQueue) -> JSONValue {
    .object([
      ("secondsBefore", .optional(queue.seconds)), ("count", .number(UInt64(queue.count))),
      ("left", .number(UInt64(queue.left))),
    ])
  }

  private static func value(_ node: TaskTree.Node) -> JSONValue {
    .object([
      ("row", .number(UInt64(node.row))), ("count", .number(UInt64(node.count))),
      ("parent", node.parent.map { .number(UInt64($0)) } ?? .null), ("groups", .number(UInt64(node.groups))),
    ])
  }

  private static func value(_ task: TaskInventory.Task) -> JSONValue {
    .object([
      ("address", .address(task.address.rawValue)), ("name", .optional(task.name)), ("row", .number(UInt64(task.row))),
      ("parent", task.parent.map { .number(UInt64($0)) } ?? .null),
      ("group", task.group.map { .address($0.rawValue) } ?? .null),
      ("ageSeconds", .optional(task.age)),
      ("sleepClock", .optional(task.timer?.clock.rawValue)),
      ("sleepDeadlineSeconds", .optional(task.timer.map { Double($0.target) / 1e9 })),
      ("sleepSecondsLeft", .optional(task.sleepLeft)),
    ])
  }

  private static func value(_ thread: TaskInventory.Thread) -> JSONValue {
    .object([
      ("number", .number(UInt64(thread.number))), ("name", .string(thread.name)),
      ("task", thread.task.map { .number(UInt64($0)) } ?? .null),
      ("blockedIn", .optional(thread.call?.rawValue)), ("owner", thread.owner.map { .number(UInt64($0)) } ?? .null),
      ("functions", .array(thread.functions.map(value))),
      ("pool", .bool(thread.isOfPool)),
    ])
  }

  private static func value(_ frame: SourceFrame) -> JSONValue {
    .object([
      ("function", .string(frame.closureName)), ("file", .optional(frame.file)),
      ("line", frame.line.map { .number(UInt64($0)) } ?? .null), ("own", .bool(frame.kind == .user)),
    ])
  }
}
