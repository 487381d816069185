// Marks: a program's statements about itself through the LeakTrace library.

import CTraceFormat

/// A statement of the traced program, at its position in the events of the thread that made it. Strings are stored as
/// numbers in a `MarkTable`.
package struct TraceMark: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// A scope begins. Objects that the task or thread makes belong to the scope until the scope end with the same
    /// number.
    case scopeBegin
    case scopeEnd
    /// A new generation begins with the objects that are made from here on.
    case generation
    /// The object that is now live at `address` must be gone at `deadline`.
    case expectation
    /// A round of repeated work is over.
    case round
    /// The process ends. The functions on the stack will not resume.
    case end
  }

  package var kind: Kind
  /// Ticks.
  package var time: UInt64
  /// The number of the scope, the repetition or the expectation. It connects a scope's end to its beginning, and a
  /// repetition's rounds to each other. 0 for a generation and the end.
  package var number: UInt64 = 0
  /// Address of an expectation's object.
  package var address: UInt64 = 0
  /// Deadline of an expectation, in ticks.
  package var deadline: UInt64 = 0
  /// The grace of a scope's end, in ticks: the time that remaining objects may still take to go.
  package var grace: UInt64 = 0
  /// For a round: its number from 1, the number of the heap image at its end, and the number of the only scope whose
  /// objects count (0: all objects count).
  package var round: UInt32 = 0
  package var snapshot: UInt32 = 0
  package var scope: UInt64 = 0
  package var name: UInt32 = 0
  package var file: UInt32 = 0
  package var line: UInt32 = 0

  package init(_ kind: Kind, time: UInt64) { (self.kind, self.time) = (kind, time) }
}

/// A mark with its strings, for moving it from one table to another.
struct NamedMark: Sendable {
  var mark: TraceMark
  var name: String
  var file: String
}

/// The marks of a pass over the events, and their distinct strings. A new pass removes the marks. For one thread at a
/// time.
package final class MarkTable: @unchecked Sendable {
  package private(set) var marks: [TraceMark] = []
  /// The number of earlier marks that were handed over.
  private(set) var handedOver = 0
  private var texts: [String] = [""]
  private var numbers: [String: UInt32] = ["": 0]
  /// The number of further bytes of distinct text that are kept. Text beyond the limit becomes empty. The marks of real
  /// programs have few names.
  private var spareText = 16 << 20

  /// The most marks that `take` accepts.
  private let limit: Int

  package init() { limit = .max }
  init(limit: Int) { self.limit = limit }

  package func text(_ number: UInt32) -> String { texts[Int(number)] }

  /// Returns the number of a text, which may be new.
  package func intern(_ text: String) -> UInt32 {
    if let known = numbers[text] { return known }
    guard text.utf8.count <= spareText else { return 0 }
    spareText -= text.utf8.count + 64
    numbers[text] = UInt32(texts.count)
    texts.append(text)
    return UInt32(texts.count - 1)
  }

  /// Adds a mark and returns its index.
  package func append(_ mark: TraceMark) -> Int {
    marks.append(mark)
    return marks.count - 1
  }

  func removeAll() { marks.removeAll(keepingCapacity: true) }

  /// Returns the marks since the previous call, and removes them from the table. The numbers of later marks continue
  /// after theirs.
  func handOver() -> [NamedMark] {
    if marks.isEmpty { return [] }
    defer {
      handedOver += marks.count
      marks.removeAll(keepingCapacity: true)
    }
    return marks.map { NamedMark(mark: $0, name: text($0.name), file: text($0.file)) }
  }

  /// Adds marks that another table has handed over.
  func append(_ others: [NamedMark]) {
    for other in others {
      var mark = other.mark
      (mark.name, mark.file) = (intern(other.name), intern(other.file))
      marks.append(mark)
    }
  }

  /// Returns the mark with a number from `take`. The mark must not have been handed over since.
  package func mark(_ number: Int) -> TraceMark { marks[number - handedOver] }

  /// Decodes the payload of a mark record. Returns the mark's index among all marks so far; nil if the mark is damaged
  /// (`isDamaged` is then set), or if its kind is unknown.
  func take(_ payload: inout ByteCursor, isDamaged: inout Bool) -> Int? {
    guard handedOver + marks.count < limit, let kind = payload.varint(), let time = payload.varint() else {
      isDamaged = true
      return nil
    }
    var mark = TraceMark(.generation, time: time)
    switch Int(clamping: kind) {
    case Int(LT_MARK_SCOPE_BEGIN):
      mark.kind = .scopeBegin
      isDamaged = !takeNumber(&payload, &mark) || !takePlace(&payload, &mark)
    case Int(LT_MARK_SCOPE_END):
      mark.kind = .scopeEnd
      isDamaged = !takeNumber(&payload, &mark)
      if let grace = payload.varint() { mark.grace = grace } else { isDamaged = true }
    case Int(LT_MARK_GENERATION):
      isDamaged = !takePlace(&payload, &mark)
    case Int(LT_MARK_EXPECTATION):
      mark.kind = .expectation
      isDamaged = !takeNumber(&payload, &mark)
      if let address = payload.varint(), let deadline = payload.varint() {
        (mark.address, mark.deadline) = (address, deadline)
      } else {
        isDamaged = true
      }
      if !isDamaged { isDamaged = !takePlace(&payload, &mark) }
    case Int(LT_MARK_ROUND):
      mark.kind = .round
      isDamaged = !takeNumber(&payload, &mark)
      if let round = payload.varint(), let snapshot = payload.varint(), let scope = payload.varint() {
        (mark.round, mark.snapshot, mark.scope) = (UInt32(clamping: round), UInt32(clamping: snapshot), scope)
      } else {
        isDamaged = true
      }
      if !isDamaged { isDamaged = !takePlace(&payload, &mark) }
    case Int(LT_MARK_END):
      mark.kind = .end
    default:
      return nil
    }
    if isDamaged { return nil }
    marks.append(mark)
    return handedOver + marks.count - 1
  }

  private func takeNumber(_ payload: inout ByteCursor, _ mark: inout TraceMark) -> Bool {
    guard let number = payload.varint() else { return false }
    mark.number = number
    return true
  }

  private func takePlace(_ payload: inout ByteCursor, _ mark: inout TraceMark) -> Bool {
    guard let name = payload.string(), let file = payload.string(), let line = payload.varint() else { return false }
    (mark.name, mark.file, mark.line) = (intern(name), intern(file), UInt32(clamping: line))
    return true
  }

  /// Returns the payload of a mark's record.
  func encoded(_ mark: TraceMark) -> [UInt8] {
    var output = ByteBuilder()
    func place() {
      output.string(text(mark.name))
      output.string(text(mark.file))
      output.varint(UInt64(mark.line))
    }
    func head(_ kind: Int) {
      output.varint(UInt64(kind))
      output.varint(mark.time)
      if mark.kind != .generation, mark.kind != .end { output.varint(mark.number) }
    }
    switch mark.kind {
    case .scopeBegin:
      head(Int(LT_MARK_SCOPE_BEGIN))
      place()
    case .scopeEnd:
      head(Int(LT_MARK_SCOPE_END))
      output.varint(mark.grace)
    case .generation:
      head(Int(LT_MARK_GENERATION))
      place()
    case .expectation:
      head(Int(LT_MARK_EXPECTATION))
      output.varint(mark.address)
      output.varint(mark.deadline)
      place()
    case .round:
      head(Int(LT_MARK_ROUND))
      output.varint(UInt64(mark.round))
      output.varint(UInt64(mark.snapshot))
      output.varint(mark.scope)
      place()
    case .end:
      head(Int(LT_MARK_END))
    }
    return output.bytes
  }
}
