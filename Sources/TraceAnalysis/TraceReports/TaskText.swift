// The tasks of a heap image as text.

import LeakDetection
import TextWriting
import TraceSymbolication
import Wording

/// The rows that `leaktrace tasks` shows, and their order.
package struct TaskSelection: Sendable {
  package enum Grouping: String, CaseIterable, Sendable { case line, parent, actor, tree }

  package var grouping: Grouping
  /// True if only waiting tasks are shown.
  package var isWaitingOnly: Bool
  /// True if only tasks that never end are shown.
  package var isLeakedOnly: Bool
  /// Maximum number of rows; nil for all.
  package var limit: Int?

  package init(grouping: Grouping = .line, isWaitingOnly: Bool = false, isLeakedOnly: Bool = false, limit: Int? = nil) {
    (self.grouping, self.isWaitingOnly, self.isLeakedOnly, self.limit) = (grouping, isWaitingOnly, isLeakedOnly, limit)
  }

  /// Returns the rows of an inventory that are shown, without the limit.
  package func rows(of inventory: TaskInventory) -> [TaskInventory.Row] {
    inventory.rows.filter(shows)
  }

  /// Returns whether a row is shown, without the limit.
  func shows(_ row: TaskInventory.Row) -> Bool {
    (!isWaitingOnly || row.state == .waiting) && (!isLeakedOnly || row.isLeaked)
  }

  /// Rows with one parent or one actor.
  struct Section {
    var title: String?
    var rows: [TaskInventory.Row]
    var count: Int { rows.reduce(0) { $0 + $1.count } }
  }

  /// Returns the shown rows, by parent or actor if the selection groups them. The largest section comes first.
  func sections(of inventory: TaskInventory) -> [Section] {
    let rows = rows(of: inventory)
    guard grouping == .parent || grouping == .actor else { return [Section(title: nil, rows: rows)] }
    var sections: [String: Section] = [:]
    for row in rows {
      let title = grouping == .parent ? Self.parent(row) : Self.actor(row)
      sections[title, default: Section(title: title, rows: [])].rows.append(row)
    }
    return sections.values.sorted { ($1.count, $0.title ?? "") < ($0.count, $1.title ?? "") }
  }

  private static func parent(_ row: TaskInventory.Row) -> String {
    guard let isGroupChild = row.isGroupChild else { return "Without a parent" }
    let function = row.parent.map { TaskText.name($0) } ?? "a task"
    return isGroupChild ? "Children of a group in \(function)" : "Children by async let of \(function)"
  }

  private static func actor(_ row: TaskInventory.Row) -> String {
    if case .actor(let type)? = row.wait { return "In the queue of \(type)" }
    return "In no queue of an actor"
  }
}

/// Renders an inventory of tasks. Formats only; makes no decisions.
package struct TaskText {
  private let style: TextStyle

  /// Maximum number of functions of a stack, unless the style asks for full stacks.
  private static let stackLimit = 6
  /// Maximum number of functions of a blocked thread or of a task in a deadlock.
  private static let threadStackLimit = 3
  /// Maximum number of actors with long queues.
  private static let actorLimit = 5
  /// The tree is indented up to this depth.
  private static let depthLimit = 16

  package init(style: TextStyle = TextStyle()) { self.style = style }

  package func text(_ inventory: TaskInventory, _ selection: TaskSelection, remarks: [String]) -> String {
    var lines = TextLines(style: style)
    lines.line(TaskWords.summary(inventory), emphasized: 2)
    if let obstacle = inventory.obstacle { lines.line("note: \(PlainText.escaped(obstacle))", indent: 2) }
    for remark in remarks where remark != inventory.obstacle { lines.line("note: \(remark)", indent: 2) }
    lines.blank()
    if let starvation = TaskWords.starvation(inventory) {
      lines.line(starvation, emphasized: starvation.split(separator: " ").count, tint: .proven)
      lines.blank()
    }
    for deadlock in inventory.deadlocks { write(deadlock, inventory, to: &lines) }
    Self.write(inventory.actors, inventory, to: &lines)
    if selection.grouping == .tree {
      writeTree(inventory, selection, to: &lines)
    } else {
      writeRows(inventory, selection, to: &lines)
    }
    write(inventory.threads, inventory, to: &lines)
    return lines.text
  }

  private func writeRows(_ inventory: TaskInventory, _ selection: TaskSelection, to lines: inout TextLines) {
    var room = selection.limit ?? .max
    var hidden = 0
    for section in selection.sections(of: inventory) {
      let shown = section.rows.prefix(room)
      room -= shown.count
      hidden += section.rows.count - shown.count
      guard !shown.isEmpty else { continue }
      if let title = section.title {
        lines.spread(
          PlainText.escaped(title), Decimal.counted(UInt64(section.count), "task"), indent: 0, emphasized: true)
        lines.blank()
      }
      for row in shown { write(row, to: &lines, indent: section.title == nil ? 0 : 2) }
    }
    if hidden > 0 {
      lines.line("\(Decimal.counted(UInt64(hidden), "more row")); show all with --limit 0")
      lines.blank()
    }
  }

  /// Writes a line for each node of the tree: the number of tasks, their kind, and the line where they wait.
  private func writeTree(_ inventory: TaskInventory, _ selection: TaskSelection, to lines: inout TextLines) {
    let tree = TaskTree(inventory)
    let nodes = tree.nodes(of: inventory, where: selection.shows)
    let shown = nodes.prefix(selection.limit ?? .max)
    for index in shown {
      let node = tree.nodes[index]
      let row = inventory.rows[node.row]
      let place = (Self.own(row.stack).first ?? row.function).map(Self.name) ?? ""
      let title = TaskWords.title(node, row)
      lines.spread(
        PlainText.escaped(title), place, indent: 2 * min(node.depth, Self.depthLimit), emphasized: node.depth == 0,
        start: row.isLeaked ? TintedStart(title, .proven) : nil)
    }
    if shown.count < nodes.count {
      lines.line("\(Decimal.counted(UInt64(nodes.count - shown.count), "more row")); show all with --limit 0")
    }
    if !nodes.isEmpty { lines.blank() }
  }

  private func write(_ row: TaskInventory.Row, to lines: inout TextLines, indent: Int) {
    let figures = [
      row.bytes > 0 ? "\(Decimal.bytes(max(row.bytes, row.retainedBytes))) retained" : nil, TaskWords.ages(row),
    ].compactMap(\.self).joined(separator: ", ")
    lines.spread(
      PlainText.escaped(TaskWords.title(row)), figures, indent: indent, emphasized: true,
      start: row.resumer == .noCode ? TintedStart(TaskWords.title(row), .proven) : nil)
    let frames = style.stacks == .full ? row.stack : Self.own(row.stack)
    let limit = style.stacks == .full ? frames.count : Self.stackLimit
    for frame in frames.prefix(limit) { Self.write(frame, to: &lines, indent: indent + 4) }
    if frames.count > limit {
      lines.line("… \(Decimal.counted(UInt64(frames.count - limit), "more function"))", indent: indent + 4)
    }
    if let resumer = TaskWords.resumer(row) {
      let words = PlainText.escaped(resumer)
      lines.line(
        words + ".", indent: indent + 2, emphasized: row.resumer == .noCode ? words.split(separator: " ").count : 0,
        tint: row.resumer == .noCode ? .proven : nil)
    }
    if let names = TaskWords.names(row) { lines.line(PlainText.escaped(names) + ".", indent: indent + 2) }
    if let locals = TaskWords.locals(row) { lines.line(PlainText.escaped(locals) + ".", indent: indent + 2) }
    if let sleep = TaskWords.sleep(row) { lines.line(sleep + ".", indent: indent + 2) }
    if let function = row.function, !frames.contains(where: { Self.isSame($0, function) }) {
      lines.line("Began with \(Self.name(function)).", indent: indent + 2)
    }
    if let creator = row.creator, creator.position != row.function?.position {
      lines.line("Made in \(Self.name(creator)).", indent: indent + 2)
    }
    if let parent = row.parent {
      lines.line(
        row.isGroupChild == true ? "Child of a group in \(Self.name(parent))." : "Child of \(Self.name(parent)).",
        indent: indent + 2)
    }
    lines.blank()
  }

  /// Writes the actors with long queues, and those whose queues grew.
  static func write(_ actors: [TaskInventory.Actor], _ inventory: TaskInventory, to lines: inout TextLines) {
    let long = actors.filter { $0.queue.count >= TaskInventory.Actor.minGrowth }
    for actor in (long.filter(\.grows) + long.filter { !$0.grows }).prefix(actorLimit) {
      let growth = TaskWords.growth(actor)
      let heading = growth == nil ? "QUEUE" : "GROWING QUEUE"
      lines.line(
        "\(heading)  \(PlainText.escaped(TaskWords.queue(actor)))",
        emphasized: heading.split(separator: " ").count, tint: growth == nil ? nil : .suspected)
      if let growth { lines.line("\(growth).", indent: 2) }
      lines.line("\(PlainText.escaped(TaskWords.occupant(actor, in: inventory))).", indent: 2)
      for function in (actor.thread.map { inventory.threads[$0].functions } ?? []).prefix(threadStackLimit) {
        write(function, to: &lines, indent: 6)
      }
      lines.blank()
    }
  }

  private func write(_ threads: [TaskInventory.Thread], _ inventory: TaskInventory, to lines: inout TextLines) {
    let inDeadlocks = Set(inventory.deadlocks.flatMap(\.threads))
    let shown = threads.enumerated().filter { $1.call != nil && !inDeadlocks.contains($0) }.map(\.element)
    guard !shown.isEmpty else { return }
    lines.line("Blocked threads: \(shown.count)", emphasized: 2)
    lines.blank()
    for thread in shown { write(thread, inventory, to: &lines, indent: 0) }
    lines.blank()
  }

  private func write(
    _ thread: TaskInventory.Thread, _ inventory: TaskInventory, to lines: inout TextLines, indent: Int
  ) {
    lines.pair(
      PlainText.escaped(thread.name), PlainText.escaped(TaskWords.activity(thread, among: inventory.threads)),
      indent: indent, continuation: indent + 4, emphasized: true)
    for function in thread.functions.prefix(Self.threadStackLimit) {
      Self.write(function, to: &lines, indent: indent + 4)
    }
    if let task = thread.task.map({ inventory.rows[inventory.tasks[$0].row] }), let function = task.function {
      lines.line("Runs a task that began with \(Self.name(function)).", indent: indent + 2)
    }
  }

  private func write(_ deadlock: TaskInventory.Deadlock, _ inventory: TaskInventory, to lines: inout TextLines) {
    let title = TaskWords.title(deadlock)
    lines.line(title, emphasized: title.split(separator: " ", omittingEmptySubsequences: false).count, tint: .proven)
    for thread in deadlock.threads { write(inventory.threads[thread], inventory, to: &lines, indent: 2) }
    var counts: [Int: Int] = [:]
    for task in deadlock.tasks { counts[inventory.tasks[task].row, default: 0] += 1 }
    for (index, count) in counts.sorted(by: { $0.key < $1.key }) {
      var row = inventory.rows[index]
      row.count = count
      lines.line(PlainText.escaped(TaskWords.title(row)), indent: 2)
      for frame in Self.own(row.stack).prefix(Self.threadStackLimit) {
        Self.write(frame, to: &lines, indent: 6)
      }
    }
    lines.blank()
  }

  private static func write(_ frame: SourceFrame, to lines: inout TextLines, indent: Int) {
    lines.pair(
      PlainText.escaped(frame.closureTitle), frame.position.map(PlainText.escaped), indent: indent,
      continuation: indent + 4)
  }

  static func name(_ frame: SourceFrame) -> String {
    PlainText.escaped(frame.closureTitle + (frame.position.map { " (\($0))" } ?? ""))
  }

  /// Returns the program's functions of a stack. With the optimiser, neighbours may name the same line.
  private static func own(_ stack: [SourceFrame]) -> [SourceFrame] {
    var kept: [SourceFrame] = []
    for frame in stack where frame.kind == .user {
      if let last = kept.last, isSame(last, frame), last.line == frame.line { continue }
      kept.append(frame)
    }
    return kept
  }

  private static func isSame(_ frame: SourceFrame, _ other: SourceFrame) -> Bool {
    frame.closureName == other.closureName && frame.file == other.file
  }
}
