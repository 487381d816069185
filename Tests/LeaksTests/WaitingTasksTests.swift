// Tasks in their first sleep, and the contents of their frames.

import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection

@Suite struct WaitingTasksTests {
  private let heap = HeapBuilder()

  /// Makes a task in the runtime's layout.
  private func task() -> HeapBuilder.Object {
    let task = heap.malloc(304)
    heap.words[task.address] = HeapBuilder.taskMetadata
    return task
  }

  /// Makes a timer with the runtime's own task. That task has a token, which refers to the sleeping task.
  private func sleep(_ sleeper: HeapBuilder.Object) -> HeapBuilder.Object {
    let timer = heap.malloc(120)
    let wake = task()
    let token = heap.malloc(8 + 16)
    heap.set(timer, 1, wake)
    heap.set(wake, 20, token)
    heap.set(token, 0, sleeper)
    return timer
  }

  /// - Parameter job: A job that a library is about to run.
  private func waiting(_ timer: HeapBuilder.Object, job: HeapBuilder.Object? = nil) throws -> (
    tasks: WaitingTasks, node: (HeapBuilder.Object) -> NodeID
  ) {
    let graph = try heap.analysis().graph
    func node(_ object: HeapBuilder.Object) -> NodeID { graph.heap.block(containing: object.address)?.rawValue ?? .max }
    let (place, jobPlace) = (node(timer), job.map(node))
    return (
      WaitingTasks(
        graph, minFirstWait: SurvivorRules.standard.minFirstWait, isTimer: { $0 == place },
        isJob: { $0 == jobPlace },
        isInLoop: { _ in nil }, isInSleep: { _ in false }, endedSleeps: { _ in 0 }),
      node
    )
  }

  @Test func taskInItsFirstSleepIsInProgressWithItsFrames() throws {
    heap.type("App.Request")
    let request = heap.object("App.Request")
    let other = heap.object("App.Request")
    let handler = task()
    heap.set(handler, 20, request)
    let timer = sleep(handler)
    heap.time += 100_000
    let (tasks, node) = try waiting(timer)
    #expect(tasks.isUnderWay(node(handler)) && tasks.isUnderWay(node(request)))
    #expect(!tasks.isUnderWay(node(other)) && !tasks.isAsleep(node(other)))
  }

  @Test func taskThatSleepsRepeatedlyIsNotInProgress() throws {
    heap.type("App.Monitor")
    let monitor = heap.object("App.Monitor")
    let poller = task()
    heap.set(poller, 20, monitor)
    heap.time += 100_000
    let timer = sleep(poller)
    heap.time += 1000
    let (tasks, node) = try waiting(timer)
    #expect(tasks.isAsleep(node(poller)) && tasks.isAsleep(node(monitor)))
    #expect(!tasks.isUnderWay(node(poller)) && !tasks.isUnderWay(node(monitor)))
  }

  @Test func objectsMadeJustBeforeASleepAreInProgressHoweverOldTheTask() throws {
    heap.type("App.Request")
    let handler = task()
    heap.time += 100_000
    let request = heap.object("App.Request")
    heap.set(handler, 20, request)
    let timer = sleep(handler)
    heap.time += 1000
    let (tasks, node) = try waiting(timer)
    #expect(tasks.isUnderWay(node(request)) && !tasks.isUnderWay(node(handler)))
  }

  @Test func taskInTheFramesOfASleepingTaskDoesNotSleep() throws {
    let handler = task()
    let worker = task()
    heap.set(handler, 20, worker)
    let timer = sleep(handler)
    heap.time += 100_000
    let (tasks, node) = try waiting(timer)
    #expect(tasks.isAsleep(node(handler)) && !tasks.isAsleep(node(worker)))
  }

  @Test func taskResumedByAJobIsAboutToRun() throws {
    heap.type("Swift.CheckedContinuationCanary", fields: [HeapBuilder.field("task", 0)])
    heap.type("App.Hub", fields: [HeapBuilder.field("listener", 0)])
    let (resumed, listening, job) = (task(), task(), heap.malloc(48))
    let continuation = heap.object("Swift.CheckedContinuationCanary")
    heap.set(job, 0, continuation)
    heap.set(continuation, 0, resumed)
    // The job's effect on the program's objects is unknown.
    let hub = heap.object("App.Hub")
    heap.set(job, 1, hub)
    heap.set(hub, 0, listening)
    let (tasks, node) = try waiting(heap.malloc(16), job: job)
    #expect(tasks.isAboutToGoOn(node(resumed)) && !tasks.isAboutToGoOn(node(listening)))
  }

  @Test("An event loop's job lists count as jobs, but its scheduled tasks do not")
  func jobsOfEventLoops() {
    // Names from a server's heap image, with swift-nio 2.101.2.
    #expect(Registrations.isJob(ofType: "DequeModule._DequeBuffer<NIOPosix.UnderlyingTask>"))
    #expect(Registrations.isJob(ofType: "Swift._ContiguousArrayStorage<NIOPosix.UnderlyingTask>"))
    #expect(!Registrations.isJob(ofType: "Swift._ContiguousArrayStorage<NIOPosix.ScheduledTask>"))
    #expect(Registrations.isJob(ofSymbol: "dispatch_async") && Registrations.isJob(ofSymbol: "dispatch_group_async"))
    #expect(
      !Registrations.isJob(ofSymbol: "dispatch_after") && !Registrations.isJob(ofSymbol: "dispatch_source_create"))
  }

  @Test(
    "Only the functions of a sleep are recognized by name",
    arguments: [
      ("static Task<>.sleep(nanoseconds:)", true),
      ("specialized static Task<>._sleep<A>(until:tolerance:clock:)", true),
      ("ContinuousClock.sleep(until:tolerance:)", true), ("Nap.sleep(for:)", false), ("Poller.start()", false),
    ])
  func sleeps(function: String, isSleep: Bool) { #expect(Registrations.isSleep(function: function) == isSleep) }
}
