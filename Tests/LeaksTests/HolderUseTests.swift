// Surviving objects of one family that have different holders, and that the program uses in different ways.

import Testing
import TraceTestSupport

@testable import LeakDetection

@Suite struct HolderUseTests {
  /// A program whose main function makes jobs and hands them to services.
  private final class Script {
    let heap = HeapBuilder()
    private let functions: [UInt64: String] = [0x1000_1010: "App.main()"]
    private var lengths: [UInt64: UInt64] = [:]

    init() {
      heap.type("App.Job", fields: [HeapBuilder.field("next", 0)])
      heap.type("App.Service", fields: [HeapBuilder.field("jobs", 0)])
    }

    /// Makes the memory of a collection, which belongs to a service or to a variable of the main function.
    func list(ofService: Bool) -> HeapBuilder.Object {
      let list = heap.malloc(1 << 14, stack: [0x1000_1010])
      if ofService {
        let service = heap.object("App.Service", stack: [0x1000_1010])
        heap.set(service, 0, list)
        heap.global(service)
      } else {
        heap.global(list)
      }
      return list
    }

    /// Makes jobs. `list`: returns the collection for the job with a given number. A job without a collection ends
    /// immediately.
    func jobs(_ count: Int, _ list: (Int) -> HeapBuilder.Object?) -> [HeapBuilder.Object] {
      (0..<count).map { index in
        for _ in 0..<8 { heap.visit([0x1000_1010]) }
        heap.time += 10_000
        let job = heap.object("App.Job", stack: [0x1000_1010])
        if let list = list(index) {
          heap.words[list.address + 16 + 8 * lengths[list.address, default: 0]] = job.address
          lengths[list.address, default: 0] += 1
        } else {
          heap.free(job, stack: [0x1000_1010])
        }
        return job
      }
    }

    func findings() throws -> [Finding] {
      try heap.findings(functions).filter { $0.path.last?.qualifiedType == "App.Job" && !$0.isWeak }
    }
  }

  /// Each of two lists gets a quarter of the jobs. The program reads one of the lists at its end.
  @Test func useOfOneHoldersObjectsIsNoEvidenceAboutAnother() throws {
    let script = Script()
    let (done, pending) = (script.list(ofService: true), script.list(ofService: true))
    let jobs = script.jobs(400) { $0 % 4 == 1 ? done : $0 % 4 == 3 ? pending : nil }
    for (index, job) in jobs.enumerated() where index % 4 == 1 {
      for _ in 0..<4 { script.heap.visit([0x1000_1010]) }
      script.heap.retain(job)
    }
    let findings = try script.findings()
    #expect(findings.map(\.instances) == [100])
    let held = try #require(findings.first?.path.last).address.rawValue
    #expect(jobs.firstIndex { $0.address == held }.map { $0 % 4 } == 3)
  }

  @Test(arguments: [true, false])
  func mainFunctionsOwnCollectionHoldsItsResults(ofService: Bool) throws {
    let script = Script()
    let list = script.list(ofService: ofService)
    _ = script.jobs(400) { $0 % 4 == 1 ? list : nil }
    #expect(try script.findings().map(\.instances) == (ofService ? [100] : []))
  }

  @Test(arguments: [true, false])
  func onlyTheServicesCollectionAccumulates(ofService: Bool) throws {
    let script = Script()
    let list = script.list(ofService: ofService)
    _ = script.jobs(400) { _ in list }
    #expect(try script.findings().map(\.verdict) == (ofService ? [.accumulating] : []))
  }
}
