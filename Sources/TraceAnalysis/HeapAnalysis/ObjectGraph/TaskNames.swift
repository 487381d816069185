// The names and the task-local values of tasks.

import CHeapScan

extension ObjectGraph {
  /// Returns the name that the program gave the task at an address; nil if it has none, or if the image lacks it. A name
  /// is cut after 128 bytes.
  ///
  /// `object_layout.h` of CHeapScan has the layout of records and its source.
  package func taskName(at task: UInt64) -> String? {
    guard taskRelations.isKnown, let flags = image.word(at: task &+ UInt64(SWIFT_TASK_FLAGS)),
      flags & UInt64(SWIFT_TASK_IS_NAMED) != 0
    else { return nil }
    var next = image.word(at: task &+ UInt64(SWIFT_TASK_RECORDS))
    for _ in 0..<SWIFT_RECORD_LIMIT {
      guard let record = next else { return nil }
      if image.word(at: record) == UInt64(SWIFT_RECORD_OF_NAME) {
        return image.word(at: record &+ UInt64(SWIFT_RECORD_NAME)).flatMap(text)
      }
      next = image.word(at: record &+ UInt64(SWIFT_RECORD_OUTER))
    }
    return nil
  }

  /// Returns the text at an address, up to the first zero byte; nil if it is empty.
  private func text(at address: UInt64) -> String? {
    var bytes: [UInt8] = []
    for offset in stride(from: 0, to: UInt64(SWIFT_TASK_NAME_LIMIT), by: 8) {
      let word = image.word(at: address &+ offset) ?? 0
      let part = withUnsafeBytes(of: word.littleEndian) { Array($0) }
      bytes += part.prefix { $0 != 0 }
      if part.contains(0) { break }
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the objects of the keys that have a value in the task at an address, innermost first, without repetitions.
  /// A task also has the values of its parents.
  package func taskLocalKeys(of task: UInt64) -> [UInt64] {
    guard taskRelations.isKnown else { return [] }
    var keys: [UInt64] = []
    var next = image.word(at: task &+ UInt64(SWIFT_TASK_LOCALS))
    for _ in 0..<Self.localLimit {
      guard let item = next.map({ $0 & ~7 }), item != 0 else { break }
      // A link to a parent has no value, and no key.
      if let key = image.word(at: item &+ UInt64(SWIFT_LOCAL_KEY)),
        image.word(at: item &+ UInt64(SWIFT_LOCAL_TYPE)) != nil, !keys.contains(key)
      {
        keys.append(key)
      }
      next = image.word(at: item &+ UInt64(SWIFT_LOCAL_NEXT))
    }
    return keys
  }

  /// Maximum number of task-local values that are followed.
  private static let localLimit = 64
}
