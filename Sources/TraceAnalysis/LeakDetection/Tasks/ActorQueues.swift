// The queues of actors: who keeps an actor from going on, and which queues only grow.

import CHeapScan
import HeapAnalysis
import TraceReading

/// Finds the thread that runs code of an actor. For one thread at a time.
struct ActorOccupants {
  private let threads: [TaskInventory.Thread]
  /// The words of the threads that run tasks, by the index of the thread in `threads`.
  private var words: [Int: Set<UInt64>] = [:]

  /// Linear in the words of the threads that run tasks.
  init(_ graph: ObjectGraph, _ threads: [TaskInventory.Thread]) {
    self.threads = threads
    var places: [UInt32: Int] = [:]
    for (index, thread) in threads.enumerated() where thread.task != nil { places[thread.number] = index }
    guard !places.isEmpty else { return }
    for root in graph.roots.roots {
      switch root.kind {
      case .stack(let thread), .registers(let thread):
        guard let place = places[graph.snapshot.threads[thread].osThread] else { continue }
        for value in root.values { words[place, default: []].insert(value & HeapImage.addressBits) }
        for range in root.ranges {
          graph.image.forEachWord(in: range) { words[place, default: []].insert($1 & HeapImage.addressBits) }
        }
      default: continue
      }
    }
  }

  /// Returns the index of the thread that runs code of an actor. Such a thread has the actor's address, and a function
  /// of the actor's type on its stack. Nil if there is no such thread, or several.
  func thread(of actor: TaskInventory.Actor) -> Int? {
    if actor.type == TaskInventory.mainActor {
      // Only the main thread runs the main actor.
      return threads.indices.first { threads[$0].isMain && threads[$0].task != nil }
    }
    let type = actor.type.prefix { $0 != "<" } + "."
    let found = threads.indices.filter { index in
      words[index]?.contains(actor.address.rawValue) == true
        && threads[index].functions.contains { $0.function.contains(type) }
    }
    return found.count == 1 ? found[0] : nil
  }
}

/// The tasks in the queues of actors at one heap image, to compare with a later image of the process.
package struct ActorQueues: Sendable {
  /// A task, by its address and the lower half of its number. A new task may have the address of an ended one, but it
  /// has another number.
  fileprivate struct Member: Hashable {
    var address: UInt64
    var number: UInt64
  }

  /// The tasks in each actor's queue, by the actor's address.
  fileprivate let members: [UInt64: Set<Member>]
  /// The time of the heap image, in seconds; nil if that is not known.
  fileprivate let seconds: Double?

  /// Reads the queues of a heap image. Looks up no names. Linear in the tasks.
  package init(_ analysis: LeakAnalysis) {
    let (graph, trace) = (analysis.graph, analysis.model.trace)
    seconds = trace.clock.seconds(at: graph.snapshot.time)
    var members: [UInt64: Set<Member>] = [:]
    for (task, dependency) in graph.taskRelations.dependencies {
      guard case .executor(let actor?) = dependency else { continue }
      let number = (graph.image.word(at: task &+ UInt64(SWIFT_TASK_FLAGS)) ?? 0) >> 32
      members[actor, default: []].insert(Member(address: task, number: number))
    }
    self.members = members
  }

  /// Adds to the inventory of this heap image the queues of an earlier one.
  package func compare(_ inventory: inout TaskInventory, with earlier: ActorQueues) {
    for index in inventory.actors.indices {
      let actor = inventory.actors[index].address.rawValue
      let before = earlier.members[actor] ?? []
      let span = seconds.flatMap { now in earlier.seconds.map { now - $0 } }
      inventory.actors[index].earlier = TaskInventory.EarlierQueue(
        seconds: span, count: before.count, left: before.subtracting(members[actor] ?? []).count)
    }
  }
}

/// The queues of actors in a series of heap images of one process. Finds the queues that only grow. Keeps the tasks of
/// two heap images for each queue.
package struct ActorQueueSeries: Sendable {
  /// The heap images since a queue began to grow.
  private struct Run {
    var first: Set<ActorQueues.Member>
    /// The time of the first heap image, in seconds; nil if that is not known.
    var seconds: Double?
    /// The number of tasks in the newest heap image.
    var count: Int
    var images = 1
  }

  /// The queues of the newest heap image, by the actor's address.
  private var runs: [UInt64: Run] = [:]

  /// Minimum number of heap images that show growth. A queue that becomes longer once may be a burst of work.
  package static let minImages = 3

  package init() {}

  /// Returns the tasks of the heap image if queues of actors only grow; otherwise nil. The inventory's actors are those
  /// with such queues.
  ///
  /// A queue only grows if no heap image had a shorter queue than the one before. Linear in the tasks. Looks up names
  /// only if there is such a queue.
  package mutating func add(_ analysis: LeakAnalysis) -> TaskInventory? {
    let queues = ActorQueues(analysis)
    var next: [UInt64: Run] = [:]
    for (actor, members) in queues.members {
      if var run = runs[actor], members.count >= run.count {
        (run.count, run.images) = (members.count, run.images + 1)
        next[actor] = run
      } else {
        next[actor] = Run(first: members, seconds: queues.seconds, count: members.count)
      }
    }
    runs = next
    let growing = runs.filter {
      $0.value.images >= Self.minImages && $0.value.count - $0.value.first.count >= TaskInventory.Actor.minGrowth
    }
    guard !growing.isEmpty else { return nil }
    var inventory = analysis.taskInventory()
    inventory.actors = inventory.actors.compactMap { actor in
      guard let run = growing[actor.address.rawValue] else { return nil }
      var actor = actor
      actor.earlier = TaskInventory.EarlierQueue(
        seconds: queues.seconds.flatMap { now in run.seconds.map { now - $0 } }, count: run.first.count,
        left: run.first.subtracting(queues.members[actor.address.rawValue] ?? []).count)
      return actor
    }
    return inventory.actors.isEmpty ? nil : inventory
  }
}
