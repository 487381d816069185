// Answers about a process's memory in words.

import LeakDetection
import TextWriting

/// Phrases the answers to the question why a process needs much memory.
package enum MemoryWords {
  /// Returns where memory levelled off, and what holds it. `span`: the name of the whole course, such as `run`.
  package static func text(_ level: MemoryLevel, of span: String) -> String {
    let size = Decimal.bytes(level.bytes)
    let course =
      level.share > 0
      ? "memory levelled off at \(size) after \(percent(level.share)) of the \(span)"
      : "memory stayed level at \(size)"
    guard let holder = level.holder else { return course }
    let type = PlainText.escaped(holder.type)
    let objects =
      holder.isCollection
      ? "\(Decimal.counted(holder.count, "element")) of \(type)" : "\(Decimal.grouped(holder.count)) × \(type)"
    return
      "\(course); \(PlainText.escaped(holder.name)) holds \(Decimal.bytes(holder.retainedBytes)) of it in \(objects)"
  }

  private static func percent(_ share: Double) -> String {
    share < 0.01 ? "less than 1 %" : "\(Int((share * 100).rounded())) %"
  }

  /// Returns the freed memory that the allocators keep, and the remedies; nil if there is little.
  package static func kept(_ memory: ResidentMemory) -> String? {
    guard memory.isMostlyFreed, let freed = memory.freed else { return nil }
    let names = memory.allocators.map(\.kind.name).joined(separator: " and ")
    let arenas = memory.allocators.reduce(0) { $0 &+ $1.arenas }
    let places = arenas > 1 ? " in \(Decimal.counted(arenas, "arena"))" : ""
    let remedies = memory.remedies.map(name).joined(separator: ", ")
    return
      "of \(Decimal.bytes(memory.resident)) resident, \(names) keeps \(Decimal.bytes(freed)) of freed memory\(places)"
      + (remedies.isEmpty ? "" : " (remedy: \(remedies))")
  }

  private static func name(_ remedy: ResidentMemory.AllocatorRemedy) -> String {
    switch remedy {
    case .trim: "malloc_trim(0)"
    case .fewerArenas: "MALLOC_ARENA_MAX=2"
    case .otherAllocator: "jemalloc"
    case .backgroundThread: "MALLOC_CONF=background_thread:true"
    }
  }
}
