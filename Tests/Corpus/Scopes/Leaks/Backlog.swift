// A queue between two threads, first in, first out, whose consumer is slower than its producer: its members end, and there are more and more of them.
import Foundation

private final class PrintJob: @unchecked Sendable {
  let pages: [String]
  init(number: Int) { pages = (0..<3).map { "page \($0) of job \(number)" } }
}

private final class Printer: @unchecked Sendable {
  static let shared = Printer()
  private let condition = NSCondition()
  private var waiting: [PrintJob] = []
  private var quota = 0

  @inline(never) func submit(_ number: Int) { condition.withLock { waiting.append(PrintJob(number: number)) } }

  /// Lets as many more jobs be printed, and waits until they are.
  func work(_ jobs: Int) {
    condition.withLock {
      quota += jobs
      condition.broadcast()
      while quota > 0 { condition.wait() }
    }
  }

  func start() {
    let thread = Thread { while true { self.printNext() } }
    thread.start()
  }

  @inline(never) private func printNext() {
    let job = condition.withLock {
      while quota == 0 { condition.wait() }
      return waiting.removeFirst()
    }
    note(job.pages.count)
    condition.withLock {
      quota -= 1
      condition.broadcast()
    }
  }
}

enum Backlog: FaultyProgram {
  /// Two of three are printed.
  static func faulty() { produce(printed: 2) }
  static func correct() { produce(printed: 3) }

  private static func produce(printed: Int) {
    Printer.shared.start()
    for number in 0..<300 {
      for part in 0..<3 { Printer.shared.submit(number * 3 + part) }
      Printer.shared.work(printed)
    }
    settle()
  }
}
