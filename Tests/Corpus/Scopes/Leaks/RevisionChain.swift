// A queue saves a document again and again, and each revision keeps the one before: a chain that only grows.
import Foundation

final class DocumentRevision: @unchecked Sendable {
  let changes: [String]
  private var previous: DocumentRevision?

  init(number: Int, previous: DocumentRevision?) {
    changes = (0..<4).map { "change \($0) of revision \(number)" }
    self.previous = previous
  }

  /// Drops the revisions before the previous one: they are not needed any more.
  func forgetHistory() { previous?.previous = nil }

  var difference: Int { changes.count - (previous?.changes.count ?? 0) }
}

final class RevisionStore: @unchecked Sendable {
  static let shared = RevisionStore()
  private let queue = DispatchQueue(label: "saving")
  private var current: DocumentRevision?

  func save(_ number: Int, forgetting: Bool) {
    queue.async { self.write(number, forgetting: forgetting) }
    queue.sync {}
  }

  @inline(never) private func write(_ number: Int, forgetting: Bool) {
    let revision = DocumentRevision(number: number, previous: current)
    current = revision
    for line in 0..<30 { note("line \(line)".split(separator: " ").map(String.init).count) }
    for change in revision.changes { note(change.split(separator: " ").map(String.init).count + revision.difference) }
    if forgetting { revision.forgetHistory() }
  }
}

enum RevisionChain: FaultyProgram {
  static func faulty() { for number in 0..<300 { RevisionStore.shared.save(number, forgetting: false) } }
  static func correct() { for number in 0..<300 { RevisionStore.shared.save(number, forgetting: true) } }
}
