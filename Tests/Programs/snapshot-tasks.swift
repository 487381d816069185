// Threads that work with Swift's collections and strings while the main thread takes snapshots of the process.
// Usage: snapshot-tasks THREADS SNAPSHOTS
import Foundation

final class Work: @unchecked Sendable {
  private let lock = NSLock()
  private var done = false
  private var sums: [String: Int] = [:]
  func isDone() -> Bool { lock.withLock { done } }
  func finish() { lock.withLock { done = true } }
  func add(_ key: String, _ value: Int) { lock.withLock { sums[key, default: 0] += value } }
  func total() -> Int { lock.withLock { sums.values.reduce(0, +) } }
}

let threadCount = Int(CommandLine.arguments[1])!, snapshotCount = Int(CommandLine.arguments[2])!
let work = Work()
let group = DispatchGroup()
let expected = ManagedAtomicSum()
final class ManagedAtomicSum: @unchecked Sendable {
  private let lock = NSLock()
  private var value = 0
  func add(_ n: Int) { lock.withLock { value += n } }
  var total: Int { lock.withLock { value } }
}
for number in 0..<threadCount {
  group.enter()
  Thread {
    var own = 0, round = 0
    while !work.isDone() {
      round += 1
      var words = [String]()
      for i in 0..<20 { words.append("word \(i) of thread \(number) in round \(round)") }
      let lengths = Dictionary(words.map { ($0, $0.count) }, uniquingKeysWith: +)
      let sum = lengths.values.reduce(0, +)
      work.add(words[round % 20], sum)
      own += sum
    }
    expected.add(own)
    group.leave()
  }.start()
}
typealias Snapshot = @convention(c) (UnsafePointer<CChar>?) -> Int32
let snapshot = dlsym(nil, "leaktrace_snapshot").map { unsafeBitCast($0, to: Snapshot.self) }
for i in 0..<snapshotCount {
  if let snapshot, snapshot("round") != i + 1 { exit(3) }
}
work.finish()
group.wait()
print(work.total() == expected.total ? "nothing was lost" : "the sums differ")
