// Repeated work in a recording, with a heap image after each round.

import TraceReading

/// A repetition, and the heap images of its rounds.
package struct Repetition: Hashable, Sendable {
  /// The number that its rounds share; 0 for rounds that were marked from outside of the program.
  package var number: UInt64
  /// Empty for rounds that were marked from outside of the program.
  package var place: MarkPlace
  /// The number of the scope of a test; 0 for all work. For a scope, only objects made within it are counted, since
  /// other tests may run at the same time.
  package var scope: UInt64
  /// Complete heap images, in order of time. If a round's heap image is missing, the round counts with the next round.
  package var images: [TraceSnapshot]

  /// Number of rounds that do not count for growth. The first round fills caches and makes objects that are made once.
  /// The second round makes the last of these objects, and receives objects that the first round passed to other
  /// threads.
  static let warmUpRounds = 2
  /// Minimum number of consecutive rounds that must each add something. After two rounds that added objects, a third
  /// may still release them.
  static let minCountedRounds = 3
  /// Minimum number of heap images for a judgement.
  package static let minRounds = warmUpRounds + minCountedRounds

  package var isJudged: Bool { images.count >= Self.minRounds }

  /// Returns the repetitions of a trace, in order of their first heap image. `statements`: the statements of all events
  /// of the trace.
  package static func all(in reader: TraceReader, _ statements: ProgramStatements) -> [Repetition] {
    let images = reader.snapshots.filter { $0.reason == .round && $0.isWhole }
    let marks = Dictionary(statements.rounds.map { ($0.snapshot, $0) }, uniquingKeysWith: { first, _ in first })
    var numbers: [UInt64: Int] = [:]
    var repetitions: [Repetition] = []
    for image in images {
      let mark = marks[image.number]
      // The program took this heap image, but could not record its repetition any more.
      if mark == nil, !image.label.isEmpty { continue }
      let number = mark?.repetition ?? 0
      if let known = numbers[number] {
        repetitions[known].images.append(image)
      } else {
        numbers[number] = repetitions.count
        repetitions.append(
          Repetition(
            number: number, place: mark?.place ?? MarkPlace(name: "", file: "", line: 0), scope: mark?.scope ?? 0,
            images: [image]))
      }
    }
    return repetitions
  }
}
