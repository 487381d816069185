// Determines the state of each task of a heap image.

import CHeapScan
import TraceReading

extension ObjectGraphBuilder {
  /// Returns the tasks that have finished, by address. A waiting or queued task is not finished: it has a record of its
  /// wait among its frames.
  ///
  /// If a task finishes without a suspension, its resume address remains an adapter of the runtime, as at its start. A
  /// task that is not in a queue yet, and a task that a thread runs, have such an address too. Such an unfinished task
  /// is recognised because a thread refers to it.
  ///
  /// - Parameter inner: the tasks among the frames of other tasks.
  private func finishedTasks(_ tasks: [BlockID], inner: [UInt64], _ threads: [SnapshotThread]) -> Set<UInt64> {
    var finished: Set<UInt64> = []
    var atBeginning: Set<UInt64> = []
    for address in tasks.map({ heap[$0].address }) + inner {
      guard taskMemory.hasNoFrames(taskAt: address), image.word(at: address &+ TaskWaits.statusRecordOffset) == nil,
        let resume = image.word(at: address &+ InitialTaskMemory.resumeOffset), roots.isImage(resume)
      else { continue }
      if beginnings.contains(resume) { atBeginning.insert(address) } else { finished.insert(address) }
    }
    // A thread that could not be stopped may run any task.
    guard !atBeginning.isEmpty, !threads.contains(where: { $0.stackPointer == nil }) else { return finished }
    let innerAtBeginning = inner.filter(atBeginning.contains)
    roots.forEachWordOfThreads(in: image) { word in
      let address = word & Self.addressBits
      if let block = heap.block(containing: address) { atBeginning.remove(heap[block].address) }
      for task in innerAtBeginning where (task..<task &+ InitialTaskMemory.minHeaderSize).contains(address) {
        atBeginning.remove(task)
      }
    }
    return finished.union(atBeginning)
  }

  /// Reads the state, the dependency, the parent and the group of each task. Call only if the layout of tasks is known
  /// and all threads were stopped.
  mutating func readTaskWaits(_ tasks: [BlockID], _ snapshot: TraceSnapshot) {
    let isTask = { [image, layouts] address in
      image.word(at: address).map { $0 & 7 == 0 && layouts?.metadataKind(at: $0) == Self.taskMetadataKind } ?? false
    }
    taskWaits = TaskWaits(
      tasks: tasks.map { heap[$0].address } + taskMemory.innerTasks.sorted(), image: image, isTask: isTask,
      isImage: { [roots] in roots.isImage($0) })
    // An inner task that its parent does not list has ended, although its memory is not overwritten.
    let inner = taskMemory.innerTasks.filter { taskWaits.parents[$0] != nil }.sorted()
    let finished = finishedTasks(tasks, inner: inner, snapshot.threads)
    for task in tasks {
      let address = heap[task].address
      if taskWaits.hearing.contains(address) { cancellableTasks.insert(task.rawValue) }
      if let wait = taskWaits.waits[address] {
        taskStates[task.rawValue] = .waiting(wait)
      } else if finished.contains(address) {
        taskStates[task.rawValue] = .finished
        taskWaits.finished.insert(address)
      }
    }
    for task in taskMemory.innerTasks {
      guard let record = taskWaits.records[task] else { continue }
      for part in taskMemory.unused(behind: record..<record &+ TaskWaits.recordSize) {
        unused[part.block, default: []].append(part.words)
      }
    }
    taskRelations = TaskRelations(
      dependencies: taskWaits.dependencies, parents: taskWaits.parents, groups: taskWaits.groups, finished: finished,
      inner: inner, isKnown: true)
  }
}
