// The times of images, the choice of the process, and the size of its memory.

import Glibc
import Testing

@testable import ProcessInspection

@Suite struct WatchedProcessTests {
  @Test func imagesAreDueAtMultiplesOfTheInterval() {
    let schedule = WatchSchedule(start: 100, interval: 10)
    #expect(schedule.next(after: 99) == 100)
    #expect(schedule.next(after: 100) == 110)
    #expect(schedule.next(after: 100.1) == 110)
    #expect(schedule.next(after: 109.9) == 110)
    // An image that took three intervals is followed by the next possible one. The images in between are left out.
    #expect(schedule.next(after: 131) == 140)
    #expect(schedule.missed(between: 100, and: 140) == 3)
    #expect(schedule.missed(between: 100, and: 110) == 0)
  }

  @Test func aThousandLateImagesDoNotDrift() {
    let schedule = WatchSchedule(start: 0, interval: 0.1)
    var now = 0.0
    for image in 1...1000 {
      now = schedule.next(after: now)
      #expect(abs(now - Double(image) * 0.1) < 1e-6)
      now += 0.03
    }
  }

  @Test func sizeThresholdFiresAgainAfterAQuarterMore() {
    var threshold = SizeThreshold(limit: 100)
    // A size below nine tenths of the limit resets the threshold.
    let sizes: [Double] = [50, 99, 100, 101, 110, 124, 126, 95, 120, 80, 100]
    let reached = sizes.filter { threshold.isReached(by: $0) }
    #expect(reached == [100, 126, 100])
  }

  @Test func groupWithTheLeastRoomCounts() {
    let files = [
      "/g/memory.max": "max\n", "/g/a/memory.current": "300\n", "/g/a/memory.max": "1000\n",
      "/g/a/b/memory.current": "200\n", "/g/a/b/memory.max": "250\n",
    ]
    func read(_ path: String) -> String { files[path] ?? "" }
    #expect(
      ProcessMemoryUse.group(of: "0::/a/b\n", below: "/g", read: read) == .init(used: 200, limit: 250))
    #expect(ProcessMemoryUse.group(of: "0::/a\n", below: "/g", read: read)?.share == 0.3)
    #expect(ProcessMemoryUse.group(of: "0::/\n", below: "/g", read: read) == nil)
    let first = [
      "/g/memory/c/memory.usage_in_bytes": "50\n", "/g/memory/c/memory.limit_in_bytes": "100\n",
      "/g/memory/memory.usage_in_bytes": "5\n", "/g/memory/memory.limit_in_bytes": "9223372036854771712\n",
    ]
    let group = ProcessMemoryUse.group(of: "5:cpu:/x\n4:memory:/c\n", below: "/g") { first[$0] ?? "" }
    #expect(group == .init(used: 50, limit: 100))
  }

  @Test(arguments: [(4, 20.3), (16, 8.3), (64, 5.3)] as [(UInt64, Double)])
  func largerPagesNeedSmallerPageTables(kibibytes: UInt64, milliseconds: Double) {
    let cost = ImageCost(ofSize: 1 << 30, page: kibibytes << 10)
    #expect(abs(cost.pause * 1000 - milliseconds) < 0.01)
    #expect(cost.maxCopied == 1 << 30)
    #expect(ImageCost(ofSize: 1 << 30) == ImageCost(ofSize: 1 << 30, page: LiveProcessMemory.kernelPage))
  }

  private static let id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

  @Test func containerMembersAreFoundByTheirControlGroups() {
    for list in [
      "0::/docker/\(Self.id)\n", "0::/system.slice/docker-\(Self.id).scope\n",
      "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-\(Self.id).scope\n",
      "4:memory:/docker/\(Self.id)\n0::/\n",
    ] {
      #expect(ContainerProcess.isMember(list, of: Self.id, isPath: false))
      #expect(ContainerProcess.isMember(list, of: String(Self.id.prefix(12)), isPath: false))
      #expect(!ContainerProcess.isMember(list, of: "ffffffffffff", isPath: false))
    }
    #expect(ContainerProcess.isMember("0::/app/web\n", of: "/app", isPath: true))
    #expect(ContainerProcess.isMember("0::/app/web\n", of: "/app/", isPath: true))
    #expect(!ContainerProcess.isMember("0::/application\n", of: "/app", isPath: true))
  }

  private static func candidate(_ process: Int32, parent: Int32, isFirst: Bool = false)
    -> ContainerProcess.Candidate
  {
    .init(process: process, parent: parent, startTicks: UInt64(process), isFirst: isFirst)
  }

  @Test func mainProcessIsTheContainersFirstProcess() throws {
    let members = [
      Self.candidate(12, parent: 11), Self.candidate(11, parent: 5, isFirst: true), Self.candidate(13, parent: 4),
    ]
    #expect(try ContainerProcess.main(of: members, name: "c") == 11)
    // The members of this container have no separate PID namespace.
    #expect(
      try ContainerProcess.main(of: [Self.candidate(12, parent: 11), Self.candidate(11, parent: 5)], name: "c") == 11)
    #expect(throws: ContainerProcess.Failure.none("c")) { try ContainerProcess.main(of: [], name: "c") }
    #expect(throws: ContainerProcess.Failure.several("c", [11, 13])) {
      try ContainerProcess.main(of: [Self.candidate(11, parent: 5), Self.candidate(13, parent: 5)], name: "c")
    }
    #expect(throws: ContainerProcess.Failure.none("web")) { try ContainerProcess.resolve("web") }
    #expect(try ContainerProcess.resolve("4711") == 4711)
  }

  @Test func processIsIdentifiedByItsStartTime() throws {
    let own = try #require(ProcessIdentity(of: getpid()))
    #expect(own.standing == .same && own.executable.hasPrefix("/"))
    #expect(ProcessIdentity(of: Int32.max) == nil)
    let use = try #require(ProcessMemoryUse(of: getpid()))
    #expect(use.resident > 0 && use.anonymous > 0 && use.pageTables > 0 && use.threads > 0)
    #expect(ProcessMemoryUse(of: Int32.max) == nil)
  }
}
