// Situations of Swift programs, by name, as situations.h has them for C: `situations NAME`, or `--list`.

import Dispatch
import Foundation

final class Node: @unchecked Sendable {
  var next: Node?
  weak var weakNext: Node?
  var values: [Int]
  init(_ count: Int) { values = Array(0..<count) }
}

actor Counter {
  private var count = 0
  func increment() -> Int {
    count += 1
    return count
  }
}

enum Failure: Error { case wanted(Int) }

struct Situation {
  let name: String
  let text: String
  let run: () async throws -> Int32
  init(_ name: String, _ text: String, _ run: @escaping () async throws -> Int32) { (self.name, self.text, self.run) = (name, text, run) }
}

func descend(_ depth: Int) -> Int { depth == 0 ? Node(3).values.count : descend(depth - 1) + (depth % 1000 == 0 ? Node(1).values.count : 0) }

func throwFrom(_ depth: Int) throws { if depth == 0 { throw Failure.wanted(Node(4).values.count) } else { try throwFrom(depth - 1) } }

let all: [Situation] = [
  Situation("objects", "100,000 objects are made and freed") {
    var sum = 0
    for i in 0..<100_000 { sum &+= Node(i % 10).values.count }
    print(sum)
    return 0
  },
  Situation("long_list", "a list of 100,000 objects is taken apart") {
    var first: Node?
    for _ in 0..<100_000 {
      let node = Node(1)
      node.next = first
      first = node
    }
    while let node = first { first = node.next }
    return 0
  },
  Situation("cycles", "1,000 cycles stay") {
    for _ in 0..<1_000 {
      let a = Node(2), b = Node(2)
      a.next = b
      b.next = a
    }
    return 0
  },
  Situation("weak_references", "weak references to objects that end") {
    var ended = 0
    for _ in 0..<10_000 {
      let holder = Node(1)
      do {
        let target = Node(1)
        holder.weakNext = target
      }
      if holder.weakNext == nil { ended += 1 }
    }
    print(ended > 0)
    return 0
  },
  Situation("strings", "strings, dictionaries and sets") {
    var words: [String: Int] = [:]
    for i in 0..<20_000 { words["word number \(i % 500) of many", default: 0] += 1 }
    print(words.count, Set(words.values).count)
    return 0
  },
  Situation("errors", "errors are thrown through a hundred frames") {
    var caught = 0
    for _ in 0..<1_000 {
      do { try throwFrom(100) } catch Failure.wanted(let count) { caught += count } catch {}
    }
    print(caught)
    return 0
  },
  Situation("recursion", "a function calls itself 20,000 times and makes objects") {
    print(descend(20_000))
    return 0
  },
  Situation("task_group", "a group of 1,000 tasks") {
    let sum = await withTaskGroup(of: Int.self) { group in
      for i in 0..<1_000 { group.addTask { Node(i % 7).values.count } }
      return await group.reduce(0, +)
    }
    print(sum)
    return 0
  },
  Situation("actor", "10,000 calls of an actor") {
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<10 { group.addTask { for _ in 0..<1_000 { _ = await counter.increment() } } }
    }
    print(await counter.increment())
    return 0
  },
  Situation("cancelled_tasks", "tasks are cancelled while they sleep") {
    let tasks = (0..<100).map { _ in Task { try await Task.sleep(nanoseconds: 60_000_000_000) } }
    tasks.forEach { $0.cancel() }
    var ended = 0
    for task in tasks { if case .failure = await task.result { ended += 1 } }
    print(ended)
    return 0
  },
  Situation("streams", "an asynchronous stream of 5,000 elements") {
    let stream = AsyncStream<Node> { continuation in
      for i in 0..<5_000 { continuation.yield(Node(i % 3)) }
      continuation.finish()
    }
    var count = 0
    for await node in stream { count += node.values.count }
    print(count)
    return 0
  },
  Situation("continuations", "continuations are resumed by threads") {
    var sum = 0
    for i in 0..<200 {
      sum += await withCheckedContinuation { continuation in Thread.detachNewThread { continuation.resume(returning: Node(i % 5).values.count) } }
    }
    print(sum)
    return 0
  },
  Situation("dispatch", "queues, groups, timers and a barrier") {
    let queue = DispatchQueue(label: "concurrent", attributes: .concurrent), group = DispatchGroup()
    for i in 0..<500 { queue.async(group: group) { _ = Node(i % 20) } }
    queue.async(group: group, flags: .barrier) { _ = Node(1) }
    let isDone = await withCheckedContinuation { continuation in group.notify(queue: .global()) { continuation.resume(returning: true) } }
    print(isDone)
    return 0
  },
  Situation("concurrent_perform", "work is done on all processors at once") {
    DispatchQueue.concurrentPerform(iterations: 2_000) { i in _ = Node(i % 50) }
    return 0
  },
  Situation("foundation_data", "Foundation: data, JSON, dates, regular expressions") {
    let data = try JSONSerialization.data(withJSONObject: ["a": Array(0..<100), "b": "text"])
    print(data.count, try NSRegularExpression(pattern: "[0-9]+").numberOfMatches(in: "1 22 333", range: NSRange(location: 0, length: 8)))
    print(DateFormatter().string(from: Date(timeIntervalSince1970: 0)).isEmpty, UUID().uuidString.count)
    return 0
  },
  Situation("foundation_process", "Foundation: a child process and its output") {
    let process = Process(), pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "echo from the child; exit 5"]
    process.standardOutput = pipe
    try process.run()
    print(String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self), terminator: "")
    process.waitUntilExit()
    print(process.terminationStatus)
    return 0
  },
  Situation("foundation_timer", "Foundation: a run loop with a timer") {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      Thread.detachNewThread {
        var count = 0
        _ = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: true) { timer in
          count += 1
          if count == 5 { timer.invalidate() }
        }
        while count < 5, RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 1)) {}
        continuation.resume()
      }
    }
    print("five")
    return 0
  },
  Situation("files", "Foundation: files are written, listed and removed") {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("situation-" + UUID().uuidString.prefix(6))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for i in 0..<20 { try Data(count: i).write(to: folder.appendingPathComponent("f\(i)")) }
    print(try FileManager.default.contentsOfDirectory(atPath: folder.path).count)
    try FileManager.default.removeItem(at: folder)
    return 0
  },
  Situation("exit_status", "the program ends by exit in a task") {
    let task: Task<Int32, Never> = Task { exit(9) }
    return await task.value
  },
  Situation("trap", "the program traps") {
    let values = Node(3).values
    setrlimit(__rlimit_resource_t(4), [rlimit(rlim_cur: 0, rlim_max: 0)])
    return Int32(values[CommandLine.arguments.count + 5])
  },
]

@main enum Program {
  static func main() async throws {
    setvbuf(stdout, nil, Int32(_IOLBF), 0)
    let name = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "--list"
    if name == "--list" { all.forEach { print("\($0.name)\t\($0.text)") } }
    guard let situation = all.first(where: { $0.name == name }) else { exit(name == "--list" ? 0 : 64) }
    exit(try await situation.run())
  }
}
