// Finds the threads that run tasks or wait for locks, and the calls that block them.

import CHeapScan
import HeapAnalysis
import PlatformRules
import TraceReading
import TraceSymbolication

/// The threads of a heap image that run tasks, and the threads that wait for another thread. For one thread at a time.
struct TaskThreads {
  private let analysis: LeakAnalysis
  private let graph: ObjectGraph
  private let names: FindingNaming
  /// The indices of running tasks, by address.
  private let running: [UInt64: Int]
  /// The indices of the image's threads, by the kernel's number. In a container, by the number that the process sees: a
  /// lock has that number of its owner.
  private let indices: [UInt32: Int]

  private static let workers = RuleBook.shipped.table(.poolThread, by: .symbol)
  private static let jobRunners = RuleBook.shipped.table(.runsTasks, by: .symbol)

  init(_ analysis: LeakAnalysis, _ names: FindingNaming, running: [UInt64: Int]) {
    (self.analysis, self.names, self.running) = (analysis, names, running)
    graph = analysis.graph
    let stacks = analysis.model.trace.definitions.threadStacks
    let numbers = graph.snapshot.threads.enumerated().map { index, thread -> (UInt32, Int) in
      let ownNumber = UInt32(clamping: stacks[UInt64(thread.osThread)]?.ownNumber ?? 0)
      return (ownNumber == 0 ? thread.osThread : ownNumber, index)
    }
    indices = Dictionary(numbers, uniquingKeysWith: { first, _ in first })
  }

  /// Linear in the words of threads, and look-ups of the names of their functions.
  func threads() -> [TaskInventory.Thread] {
    guard graph.snapshot.isFrozen else { return [] }
    let tasks = tasksOfThreads()
    var found: [Int: TaskInventory.Thread] = [:]
    var owners: [Int: Int] = [:]
    for (index, thread) in graph.snapshot.threads.enumerated() where tasks[index] != nil || thread.isWaiting {
      let functions = functions(of: thread)
      let isRunner = functions.contains { $0.mangledName.map(Self.jobRunners.matches) ?? false }
      let call = thread.isWaiting ? BlockingCall(frames: functions) : nil
      owners[index] = call.flatMap { owner(of: thread, in: $0) }
      // The stack of a thread that runs no job may have the handle of a task.
      let task = isRunner || functions.isEmpty ? tasks[index] : nil
      guard isRunner || task != nil || owners[index] != nil else { continue }
      found[index] = self.thread(thread, functions, task: task, call: call, isRunner: isRunner)
    }
    for owner in owners.values where found[owner] == nil {
      let thread = graph.snapshot.threads[owner]
      let functions = functions(of: thread)
      found[owner] = self.thread(
        thread, functions, task: nil, call: thread.isWaiting ? BlockingCall(frames: functions) : nil, isRunner: false)
    }
    let (queues, full) = jobQueues()
    for (index, queue) in queues {
      found[index]?.queue = RuntimeAddress(queue)
      found[index]?.queueLimit = full[queue]
    }
    let order = found.keys.sorted()
    let places = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
    return order.map { index in
      var thread = found[index]!
      thread.owner = owners[index].flatMap { places[$0] }
      return thread
    }
  }

  /// Returns whether functions belong to a thread of the pool that runs tasks.
  private func isPoolThread(_ functions: [SourceFrame]) -> Bool {
    functions.contains { $0.mangledName.map(Self.workers.matches) ?? false }
  }

  private func thread(
    _ thread: SnapshotThread, _ functions: [SourceFrame], task: Int?, call: BlockingCall?, isRunner: Bool
  ) -> TaskInventory.Thread {
    let isMain = UInt64(thread.osThread) == UInt64(analysis.reader.header.processID)
    return TaskInventory.Thread(
      number: thread.osThread,
      name: names.threads?.name(ofThread: UInt64(thread.osThread)) ?? "thread \(thread.osThread)", task: task,
      call: call,
      owner: nil, functions: functions.filter { $0.kind == .user },
      isOfPool: isRunner && isPoolThread(functions) && !isMain, isMain: isMain)
  }

  private func functions(of thread: SnapshotThread) -> [SourceFrame] {
    guard let addresses = analysis.model.frames(thread) else { return [] }
    return addresses.prefix(Self.frameLimit).enumerated().flatMap { index, address -> [SourceFrame] in
      let key = FrameKey(address: RuntimeAddress(address), isExact: index == 0, isAsync: false)
      return names.naming.frames(for: key, in: graph.roots.image(at: key.lookupAddress))
    }
  }

  /// Maximum number of frames of a thread that are named.
  private static let frameLimit = 256

  // MARK: Owners

  /// The low bits of a lock that name its owner.
  private static let ownerMask: UInt64 = 0x3FFF_FFFF

  /// Returns the index of the thread that a thread waits for: the owner of a lock, the thread that runs a queue, or the
  /// thread that is joined. Nil if the image does not show it.
  ///
  /// The first argument of the thread's system call leads to the owner. `known_words.c` of CHeapScan has the layouts and
  /// their sources. The word that a joining thread waits for has the number of the other thread, like a lock.
  private func owner(of thread: SnapshotThread, in call: BlockingCall) -> Int? {
    let place = graph.snapshot.isArm64 ? LT_SNAPSHOT_ARGUMENT_ARM64 : LT_SNAPSHOT_ARGUMENT_X86_64
    guard Int(place) < thread.registers.count else { return nil }
    let argument = thread.registers[Int(place)]
    switch call {
    case .lock, .join:
      guard let state = graph.image.word(at: argument) else { return nil }
      if call == .lock, state == 1 || state == 2 { return graph.image.word(at: argument &+ 8).flatMap(index) }
      return index(state & Self.ownerMask)
    case .dispatchSync:
      let context = argument &- UInt64(SWIFT_SYNC_EVENT)
      guard graph.image.word(at: context &+ UInt64(SWIFT_SYNC_SELF)) == context,
        let queue = graph.image.word(at: context &+ UInt64(SWIFT_SYNC_QUEUE)),
        let state = graph.image.word(at: queue &+ UInt64(SWIFT_QUEUE_STATE))
      else { return nil }
      return index(state & Self.ownerMask)
    case .semaphore, .sleep, .timedWait, .input: return nil
    }
  }

  private func index(_ number: UInt64) -> Int? { UInt32(exactly: number).flatMap { indices[$0] } }

  // MARK: Queues of jobs

  /// Returns the queue of jobs of each waiting thread, by the thread's index, and the number of jobs of each queue that
  /// may not be exceeded. Nothing is known of other queues.
  ///
  /// `known_words.c` of CHeapScan keeps the states of these queues, and of no others. Source:
  /// swiftlang/swift-corelibs-libdispatch, src/queue_internal.h (dq_state, dq_width); swiftlang/swift,
  /// stdlib/public/Concurrency/DispatchGlobalExecutor.cpp; seen with Swift 6.3.1.
  private func jobQueues() -> (queues: [Int: UInt64], full: [UInt64: Int]) {
    var queues: [Int: UInt64] = [:]
    var full: [UInt64: Int] = [:]
    for root in graph.roots.roots {
      guard case .stack(let thread) = root.kind, graph.snapshot.threads[thread].isWaiting else { continue }
      for range in root.ranges {
        graph.image.forEachWord(in: range) {
          let address = $1 & HeapImage.addressBits
          guard queues[thread] == nil, let jobs = jobs(ofQueue: address) else { return }
          queues[thread] = address
          if jobs.running == jobs.width { full[address] = jobs.width }
        }
      }
    }
    return (queues, full)
  }

  /// Returns the number of jobs that a queue runs, and its limit. Nil if no such queue is at the address.
  private func jobs(ofQueue address: UInt64) -> (running: Int, width: Int)? {
    guard address & 15 == 0, graph.heap.block(containing: address) != nil,
      let width = graph.image.word(at: address &+ UInt64(SWIFT_QUEUE_WIDTH)).map({ Int($0 & 0xFFFF) }),
      (1..<Int(SWIFT_QUEUE_FULL)).contains(width),
      let state = graph.image.word(at: address &+ UInt64(SWIFT_QUEUE_STATE))
    else { return nil }
    let field = Int(state >> UInt64(SWIFT_QUEUE_JOBS_SHIFT) & UInt64(SWIFT_QUEUE_JOBS_MASK))
    let running = field - (Int(SWIFT_QUEUE_FULL) - width)
    return (0...width).contains(running) ? (running, width) : nil
  }

  // MARK: Tasks

  /// Returns the running task of each thread, by the thread's index. The runtime keeps the address of the current task
  /// in a thread-local variable. If that is not enough, the only running task on the thread's stack is the task.
  private func tasksOfThreads() -> [Int: Int] {
    var local: [Int: Set<Int>] = [:]
    var onStack: [Int: Set<Int>] = [:]
    func note(_ word: UInt64, _ thread: Int, _ places: inout [Int: Set<Int>]) {
      if let task = running[word & HeapImage.addressBits] { places[thread, default: []].insert(task) }
    }
    guard !running.isEmpty else { return [:] }
    for root in graph.roots.roots {
      switch root.kind {
      case .threadLocal(let thread):
        for range in root.ranges { graph.image.forEachWord(in: range) { note($1, thread, &local) } }
      case .stack(let thread), .registers(let thread):
        for value in root.values { note(value, thread, &onStack) }
        for range in root.ranges { graph.image.forEachWord(in: range) { note($1, thread, &onStack) } }
      default: continue
      }
    }
    var tasks: [Int: Int] = [:]
    for thread in graph.snapshot.threads.indices {
      let found = local[thread].flatMap { $0.count == 1 ? $0 : nil } ?? onStack[thread] ?? []
      if found.count == 1 { tasks[thread] = found.first }
    }
    return tasks
  }
}
