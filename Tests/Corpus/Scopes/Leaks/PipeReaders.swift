// The output of jobs is read from pipes. A handle keeps its handler until the program takes it away.
import Foundation

final class JobOutput: @unchecked Sendable {
  private let pipe = Pipe()
  private let read = Locked(0)

  func follow() {
    pipe.fileHandleForReading.readabilityHandler = { handle in
      let count = handle.availableData.count
      self.read.with { $0 += count }
    }
  }

  func say(_ text: String) { pipe.fileHandleForWriting.write(Data(text.utf8)) }

  func awaitBytes(_ count: Int) { while read.with({ $0 }) < count { usleep(200) } }

  func end(detaches: Bool) {
    if detaches { pipe.fileHandleForReading.readabilityHandler = nil }
  }
}

enum PipeReaders: FaultyProgram {
  static func faulty() { work(detaches: false) }
  static func correct() { work(detaches: true) }

  @inline(never) private static func work(detaches: Bool) {
    for number in 0..<12 { run(number, detaches) }
  }

  @inline(never) private static func run(_ number: Int, _ detaches: Bool) {
    let output = JobOutput()
    output.follow()
    let text = "job \(number) has begun\n"
    output.say(text)
    output.awaitBytes(text.utf8.count)
    output.end(detaches: detaches)
  }
}
