// Tasks that wait for what may still come, and threads that compute.
import Dispatch
import Glibc

enum PendingLoads: CleanProgram {
  private final class Page: @unchecked Sendable { var parts: [Int] = [] }

  /// Who can resume a load, and with it the task that made it.
  private static let requests = Requests()

  private final class Requests: @unchecked Sendable {
    private var waiting: [UnsafeContinuation<Int, Never>] = []
    private var lock = pthread_mutex_t()
    func next() async -> Int {
      await withUnsafeContinuation { continuation in
        pthread_mutex_lock(&lock)
        waiting.append(continuation)
        pthread_mutex_unlock(&lock)
      }
    }
  }

  static func correct() {
    Task.detached {
      let page = Page()
      async let first = requests.next()
      async let second = requests.next()
      page.parts = await [first, second]
    }
    Task.detached {
      let page = Page()
      await withTaskGroup(of: Int.self) { group in
        for _ in 0..<2 { group.addTask { await requests.next() } }
        for await part in group { page.parts.append(part) }
      }
    }
    settle()
  }
}

/// Work with a deadline that it does not reach: the sleep is cancelled, and what would have ended it stays until it is due.
enum UnreachedDeadlines: CleanProgram {
  static func correct() {
    waitFor {
      for number in 0..<12 {
        note(await answer(number, tolerance: nil))
        note(await answer(number, tolerance: .zero))
        note(await answer(number, tolerance: .milliseconds(number)))
      }
    }
  }

  private static func answer(_ number: Int, tolerance: Duration?) async -> Int {
    await withTaskGroup(of: Int?.self) { group in
      group.addTask {
        try? await Task.sleep(for: .seconds(600), tolerance: tolerance)
        return nil
      }
      group.addTask { number }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first ?? -1
    }
  }
}

enum ComputingThreads: CleanProgram {
  private static let begun = DispatchSemaphore(value: 0)

  static func correct() {
    for _ in 0..<2 {
      var thread = pthread_t()
      // It computes where it begins, and nothing else knows its memory.
      pthread_create(&thread, nil, { _ in
        let cells = UnsafeMutablePointer<UInt32>.allocate(capacity: 1000)
        cells.initialize(repeating: 1, count: 1000)
        ComputingThreads.begun.signal()
        // Until the process ends.
        while true { for index in 0..<1000 { cells[index] = cells[index] &* 1_664_525 &+ 1_013_904_223 } }
      }, nil)
      begun.wait()
    }
  }
}
