// Dispatch, threads, operations, tasks, actors, streams.
import Foundation

enum DispatchGroups: CleanProgram {
  static func correct() {
    let group = DispatchGroup()
    let queue = DispatchQueue(label: "results")
    let results = Results()
    for number in 0..<64 {
      DispatchQueue.global().async(group: group) { queue.async(group: group) { results.values.append(number) } }
    }
    group.wait()
    queue.sync { note(results.values.count) }
    DispatchQueue.concurrentPerform(iterations: 16) { _ in _ = [1, 2, 3].map { $0 * 2 } }
    settle()
  }

  private final class Results: @unchecked Sendable { var values: [Int] = [] }
}

enum OperationQueues: CleanProgram {
  static func correct() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 2
    let first = BlockOperation { _ = (0..<100).map { "\($0)" } }
    let second = BlockOperation { _ = [1, 2, 3].shuffled() }
    second.addDependency(first)
    queue.addOperations([first, second], waitUntilFinished: true)
    for _ in 0..<8 { queue.addOperation { _ = UUID().uuidString } }
    queue.waitUntilAllOperationsAreFinished()
    // Their threads still put them away.
    settle()
  }
}

enum Threads: CleanProgram {
  static func correct() {
    let finished = DispatchSemaphore(value: 0)
    for number in 0..<4 {
      let thread = Thread {
        Thread.current.threadDictionary["number"] = "thread \(number)"
        _ = (0..<50).map { "\(number) \($0)" }
        finished.signal()
      }
      thread.start()
    }
    for _ in 0..<4 { finished.wait() }
    settle()
  }
}

enum TaskGroups: CleanProgram {
  static func correct() {
    waitFor {
      let total = await withTaskGroup(of: Int.self) { group in
        for number in 0..<50 { group.addTask { await Task.yield(); return number } }
        return await group.reduce(0, +)
      }
      async let left = half(total)
      async let right = half(total + 1)
      note(await left + right)
      let task = Task { try await Task.sleep(for: .seconds(60)) }
      task.cancel()
      _ = await task.result
    }
  }

  @Sendable private static func half(_ value: Int) async -> Int { value / 2 }
}

actor Counter {
  private var counts: [String: Int] = [:]
  func count(_ name: String) { counts[name, default: 0] += 1 }
  var total: Int { counts.values.reduce(0, +) }
}

enum Actors: CleanProgram {
  static func correct() {
    waitFor {
      let counter = Counter()
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<40 { group.addTask { await counter.count("name \(number % 7)") } }
      }
      note(await counter.total)
    }
  }
}

enum FinishedStreams: CleanProgram {
  static func correct() {
    waitFor {
      let (stream, continuation) = AsyncStream<Int>.makeStream()
      continuation.onTermination = { _ in note(1) }
      for number in 0..<20 { continuation.yield(number) }
      continuation.finish()
      for await number in stream { note(number) }
      let failing = AsyncThrowingStream<Int, any Error> { $0.finish(throwing: CancellationError()) }
      do { for try await number in failing { note(number) } } catch { note(2) }
    }
  }
}

final class Loader: @unchecked Sendable {
  private var task: Task<Void, Never>?
  private var loads = 0

  func load() async {
    task = Task { self.loads += 1 }
    await task?.value
    note(loads)
  }
}

/// A finished task releases its captures, even if the task itself is stored.
enum StoredTasks: CleanProgram {
  static func correct() {
    waitFor { for _ in 0..<5 { await Loader().load() } }
    settle()
  }
}
