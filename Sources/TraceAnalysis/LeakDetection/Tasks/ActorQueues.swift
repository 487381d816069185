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
  private struct Member: Hashable {
    var address: UInt64
    var number: UInt64
  }

  /// The tasks in each actor's queue, by the actor's address.
  private let members: [UInt64: Set<Member>]
  /// The time of the heap image, in seconds; nil if that is not known.
  private let seconds: Double?

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
