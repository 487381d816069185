// Work that was done several times over while it was recorded, with a heap image after each round.

import TraceReading

/// A repetition, and the heap images of its rounds.
package struct Repetition: Hashable, Sendable {
  /// The number that its rounds share; 0 for rounds that were marked from outside.
  package var number: UInt64
  /// Empty for rounds that were marked from outside.
  package var place: MarkPlace
  /// The number of the scope that limits the count to objects made within it: the scope of a test, since other tests
  /// may run beside it. 0 for all work.
  package var scope: UInt64
  /// Whole images, in order of time. A round whose image is missing counts with the next.
  package var images: [TraceSnapshot]

  /// Rounds that say nothing about growth. The first fills caches and makes objects that are made once. The second
  /// makes the last of these, and takes over objects that the first handed to other threads.
  static let warmUpRounds = 2
  /// Minimum number of consecutive rounds that must each add something. A third round may take back the objects that
  /// two rounds added.
  static let leastCountedRounds = 3
  /// With fewer images, the repetition is not judged.
  package static let leastRounds = warmUpRounds + leastCountedRounds

  package var isJudged: Bool { images.count >= Self.leastRounds }

  /// The repetitions of a trace, in order of their first image. `statements`: of all of its events.
  package static func all(in reader: TraceReader, _ statements: ProgramStatements) -> [Repetition] {
    let images = reader.snapshots.filter { $0.reason == .round && $0.isWhole }
    let marks = Dictionary(statements.rounds.map { ($0.snapshot, $0) }, uniquingKeysWith: { first, _ in first })
    var numbers: [UInt64: Int] = [:]
    var repetitions: [Repetition] = []
    for image in images {
      let mark = marks[image.number]
      // The program took this image, but did not get to record its repetition.
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
