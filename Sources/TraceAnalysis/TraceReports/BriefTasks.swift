// Tasks as short answers for agents.

import LeakDetection
import TextWriting
import TraceSymbolication
import Wording

extension BriefReport {
  /// Returns the tasks of a trace, row by row. Deadlocks come first, then the tasks that no code can resume.
  ///
  /// - Parameters:
  ///   - path: the trace.
  ///   - selection: the rows that are listed. Its limit and grouping do not count.
  ///   - size: maximum number of bytes.
  package static func tasks(_ inventory: TaskInventory, path: String, _ selection: TaskSelection, size: Int)
    -> JSONValue
  {
    var object = object("tasks", size: size)
    object.require("trace", text(path, to: 120))
    object.require("summary", text(TaskWords.summary(inventory), to: 200))
    if let obstacle = inventory.obstacle { object.require("obstacle", text(obstacle, to: 200)) }
    if let starvation = TaskWords.starvation(inventory) { object.require("starvation", text(starvation, to: 200)) }
    if !inventory.deadlocks.isEmpty {
      object.addList("deadlocks", inventory.deadlocks.map { value($0, inventory) })
    }
    let queues = inventory.actors.filter { $0.queue.count >= TaskInventory.Actor.minGrowth }
    if !queues.isEmpty {
      object.addList(
        "queues",
        queues.prefix(4).map { actor in
          .object([
            ("title", text(TaskWords.queue(actor), to: 160)),
            ("growth", TaskWords.growth(actor).map { text($0, to: 160) } ?? .null),
            ("occupant", text(TaskWords.occupant(actor, in: inventory), to: 200)),
          ])
        })
    }
    let rows = selection.rows(of: inventory)
    let lost = rows.filter { $0.resumer == .noCode }
    if !lost.isEmpty {
      object.add(
        "next", .array([call("findings", [("trace", .string(path))], "explains the tasks that no code can resume")]))
    }
    object.addList("rows", (lost + rows.filter { $0.resumer != .noCode }).map(value))
    return object.value
  }

  private static func value(_ row: TaskInventory.Row) -> JSONValue {
    var fields: [(String, JSONValue)] = [
      ("count", .number(UInt64(row.count))), ("state", text(TaskWords.state(row), to: 160)),
    ]
    let own = row.stack.filter { $0.kind == .user }
    if !own.isEmpty { fields.append(("stack", .array(own.prefix(3).map { text(words($0), to: 160) }))) }
    if let resumer = TaskWords.resumer(row) { fields.append(("resumed", text(resumer, to: 200))) }
    if let names = TaskWords.names(row) { fields.append(("names", text(names, to: 160))) }
    if let locals = TaskWords.locals(row) { fields.append(("taskLocals", text(locals, to: 160))) }
    if let sleep = TaskWords.sleep(row) { fields.append(("wakes", text(sleep, to: 80))) }
    if let function = row.function { fields.append(("began", text(words(function), to: 160))) }
    if let parent = row.parent { fields.append(("parent", text(words(parent), to: 160))) }
    return .object(fields)
  }

  private static func value(_ deadlock: TaskInventory.Deadlock, _ inventory: TaskInventory) -> JSONValue {
    let threads = deadlock.threads.prefix(4).map { index -> JSONValue in
      let thread = inventory.threads[index]
      return .object([
        ("thread", text(thread.name, to: 80)),
        ("blocked", text(TaskWords.activity(thread, among: inventory.threads), to: 160)),
        ("stack", .array(thread.functions.prefix(3).map { text(words($0), to: 160) })),
      ])
    }
    let rows = Set(deadlock.tasks.map { inventory.tasks[$0].row }).sorted().prefix(4).map { value(inventory.rows[$0]) }
    return .object([("title", text(TaskWords.title(deadlock), to: 100)), ("members", .array(threads + rows))])
  }
}
