// Tasks in words.

import LeakDetection
import TextWriting
import TraceSymbolication

/// Phrases the states, waits and resumers of tasks.
package enum TaskWords {
  /// Returns the title of a row, such as `4 waiting for a continuation`. The number of tasks comes first.
  package static func title(_ row: TaskInventory.Row) -> String {
    "\(Decimal.grouped(UInt64(row.count))) \(state(row))"
  }

  /// Returns the title of a node of the tree, such as `400 in 4 groups: waiting for a continuation`.
  package static func title(_ node: TaskTree.Node, _ row: TaskInventory.Row) -> String {
    let count = Decimal.grouped(UInt64(node.count))
    let end = row.resumer == .noCode ? ", no code can resume \(node.count == 1 ? "it" : "them")" : ""
    if node.groups > 0 { return "\(count) in \(Decimal.counted(UInt64(node.groups), "group")): \(state(row))\(end)" }
    return "\(count)\(node.parent == nil ? "" : " by async let:") \(state(row))\(end)"
  }

  /// Returns the state of a row's tasks, such as `waiting for a continuation, cancelled`.
  package static func state(_ row: TaskInventory.Row) -> String {
    let marks = [row.isCancelled && row.state != .finished ? "cancelled" : nil, row.priority.flatMap(priority)]
    return ([plainState(row)] + marks.compactMap(\.self)).joined(separator: ", ")
  }

  /// Returns a priority that is not the default one. Source: swiftlang/swift, include/swift/ABI/MetadataValues.h
  /// (JobPriority).
  private static func priority(_ value: UInt8) -> String? {
    switch value {
    case 0x21: "user-interactive priority"
    case 0x19: "high priority"
    case 0x11: "low priority"
    case 0x09: "background priority"
    default: nil
    }
  }

  private static func plainState(_ row: TaskInventory.Row) -> String {
    switch (row.state, row.wait) {
    case (.running, _): "running"
    case (.finished, _): row.parent == nil ? "finished" : "finished, result not read"
    case (.unknown, _): row.count == 1 ? "task" : "tasks"
    case (.ready, .actor(let type)?): "ready, waiting for a turn on \(actor(type))"
    case (.ready, _): "ready, waiting for a thread"
    case (.waiting, .sleep?): "sleeping"
    case (.waiting, .stream?): "waiting for an element of a stream"
    case (.waiting, .task(let function)?): "waiting for a task\(began(function))"
    case (.waiting, .child(let function)?): "waiting for an async let\(began(function))"
    case (.waiting, .group?): "waiting for a child of a group"
    case (.waiting, _): "waiting for a continuation"
    }
  }

  private static func actor(_ type: String) -> String { type == "MainActor" ? "the main actor" : type }

  private static func began(_ function: SourceFrame?) -> String {
    function.map { " that runs \(PlaceWords.name($0))" } ?? ""
  }

  /// Returns the ways to resume the tasks of a row as a sentence; nil if the row's title says it.
  package static func resumer(_ row: TaskInventory.Row) -> String? {
    let them = row.count == 1 ? "it" : "them"
    switch row.resumer {
    case .holder(let name, let origin)?:
      return name == origin ? "Resumed through \(name)" : "Resumed through \(name), which \(origin) leads to"
    case .noCode?: return "No code can resume \(them)"
    case .possibly?:
      return
        "No reference leads to \(row.count == 1 ? "the continuation" : "the continuations"), but the program may still reach \(them)"
    case .stuckTask?: return "\(row.count == 1 ? "It waits" : "They wait") for a task that never ends"
    case .task?, .timer?, .executor?, nil: return nil
    }
  }

  /// Returns a sentence about the rest of the sleeps of a row, such as `It wakes up in 12 s`; nil if that is not known.
  package static func sleep(_ row: TaskInventory.Row) -> String? {
    guard let left = row.sleepLeft else { return nil }
    let (least, most) = (Decimal.duration(max(0, left.lowerBound)), Decimal.duration(max(0, left.upperBound)))
    let subject = row.count == 1 ? "It wakes" : "They wake"
    return least == most ? "\(subject) up in \(least)" : "\(subject) up in \(least) to \(most)"
  }

  /// Returns the names of a row's tasks, such as `Named "upload" and 2 more`; nil if they have none.
  package static func names(_ row: TaskInventory.Row) -> String? {
    guard !row.names.isEmpty else { return nil }
    let shown = row.names.prefix(nameLimit).map { "\u{22}\($0)\u{22}" }.joined(separator: ", ")
    let rest = row.names.count - nameLimit
    return rest > 0 ? "Named \(shown) and \(Decimal.grouped(UInt64(rest))) more" : "Named \(shown)"
  }

  /// Returns the task-local values of a row's tasks, such as `With task-local values of Request.id`; nil if they have
  /// none.
  package static func locals(_ row: TaskInventory.Row) -> String? {
    guard !row.locals.isEmpty else { return nil }
    return "With task-local values of \(row.locals.map { $0.variable ?? $0.type }.joined(separator: ", "))"
  }

  /// Maximum number of names in a sentence.
  private static let nameLimit = 3

  /// Returns the first line of an answer: the number of tasks in each state.
  package static func summary(_ inventory: TaskInventory) -> String {
    let parts = TaskInventory.State.allCases.compactMap { state -> String? in
      let count = inventory.count(of: state)
      guard count > 0 else { return nil }
      return "\(Decimal.grouped(UInt64(count))) \(state == .unknown ? "in an unknown state" : state.rawValue)"
    }
    let total = Decimal.counted(UInt64(inventory.tasks.count), "task")
    return parts.isEmpty ? "\(total)" : "\(total): \(parts.joined(separator: ", "))"
  }

  /// Returns a sentence about threads that keep tasks from running; nil if tasks can run.
  package static func starvation(_ inventory: TaskInventory) -> String? {
    guard let worst = inventory.starvation.first else { return nil }
    let count = worst.threads.count
    let ready = Decimal.counted(UInt64(worst.waiting), "task")
    return count == 1
      ? "The only thread that runs these tasks is blocked, and \(ready) cannot run until its call returns."
      : "\(count) of \(count) threads that run tasks are blocked, and \(ready) cannot run until one of these calls returns."
  }

  /// Returns the activity of a thread, such as `blocked by a lock that thread 12 holds`.
  package static func activity(_ thread: TaskInventory.Thread, among threads: [TaskInventory.Thread]) -> String {
    let owner = thread.owner.map {
      threads[$0].number == thread.number ? "it holds itself" : "\(threads[$0].name) holds"
    }
    return switch thread.call {
    case .lock?: "blocked by a lock\(owner.map { " that \($0)" } ?? "")"
    case .dispatchSync? where thread.owner != nil:
      "blocked until \(threads[thread.owner ?? 0].name) has run the work of a dispatch queue"
    case .join? where thread.owner != nil: "blocked until \(threads[thread.owner ?? 0].name) ends"
    case .timedWait?: "blocked by a wait with a time limit"
    case .semaphore?: "blocked by a semaphore, a condition or a dispatch group"
    case .dispatchSync?: "blocked until a dispatch queue has run its work"
    case .join?: "blocked until another thread ends"
    case .sleep?: "blocked by a sleep"
    case .input?: "blocked by input or output"
    case nil: "running"
    }
  }

  /// Returns the queue of an actor, such as `40 tasks wait for a turn on Printer`.
  package static func queue(_ actor: TaskInventory.Actor) -> String {
    let count = UInt64(actor.queue.count)
    return "\(Decimal.counted(count, "task")) \(count == 1 ? "waits" : "wait") for a turn on \(Self.actor(actor.type))"
  }

  /// Returns how the queue of an actor grew, such as `38 more than 2 s before, and none has left it`; nil if it did not
  /// grow.
  package static func growth(_ actor: TaskInventory.Actor) -> String? {
    guard actor.grows, let earlier = actor.earlier else { return nil }
    let span = earlier.seconds.map { "\(Decimal.duration($0)) before" } ?? "in the earlier image"
    let left =
      earlier.left == 0
      ? "none of the earlier ones has had its turn" : "\(Decimal.grouped(UInt64(earlier.left))) had their turn"
    return "\(Decimal.grouped(UInt64(actor.queue.count - earlier.count))) more than \(span): \(left)"
  }

  /// Returns who runs code of the actor, such as `thread 12 runs it, blocked by a sleep`.
  package static func occupant(_ actor: TaskInventory.Actor, in inventory: TaskInventory) -> String {
    guard let index = actor.thread else { return "No thread is known to run it" }
    let thread = inventory.threads[index]
    let name = thread.name.prefix(1).uppercased() + thread.name.dropFirst()
    return "\(name) runs it\(thread.call == nil ? "" : ", \(activity(thread, among: inventory.threads))")"
  }

  /// Returns the title of a deadlock.
  package static func title(_ deadlock: TaskInventory.Deadlock) -> String {
    let (count, noun) = deadlock.tasks.isEmpty ? (deadlock.threads.count, "thread") : (deadlock.tasks.count, "task")
    return count == 1
      ? "DEADLOCK  a \(noun) waits for itself"
      : "DEADLOCK  \(Decimal.grouped(UInt64(count))) \(noun)s wait for one another"
  }

  /// Returns ages such as `0.5 s` or `0.5 s to 12 s old`.
  package static func ages(_ row: TaskInventory.Row) -> String? {
    guard let ages = row.ages else { return nil }
    let (youngest, oldest) = (Decimal.duration(ages.lowerBound), Decimal.duration(ages.upperBound))
    return youngest == oldest ? "\(oldest) old" : "\(youngest) to \(oldest) old"
  }
}
