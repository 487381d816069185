import Glibc
import ProcessAttachment
import Testing
import TraceRecording

@testable import FeatureChecks
@testable import ProcessInspection
@testable import TraceSymbolication

/// Judges which features work, from given facts.
@Suite struct FeatureJudgementTests {
  private func verdict(_ feature: Feature, _ facts: CheckedFacts) -> FeatureVerdict {
    FeatureJudgement(facts).verdict(for: feature)
  }

  private func remedy(_ feature: Feature, _ facts: CheckedFacts) -> String? {
    verdict(feature, facts).remedy.map { RemedyWords(facts).text($0, feature) }
  }

  private func expectFailure(
    _ features: [Feature], _ obstacle: Obstacle, _ facts: CheckedFacts, _ location: SourceLocation = #_sourceLocation
  ) {
    for feature in Feature.allCases where features.contains(feature) {
      #expect(verdict(feature, facts).standing == .fails(obstacle), "\(feature)", sourceLocation: location)
    }
    for feature in Feature.allCases where !features.contains(feature) {
      #expect(verdict(feature, facts).works, "\(feature)", sourceLocation: location)
    }
  }

  @Test("Everything works where every attempt succeeds") func all() {
    for facts in [Described.facts(), Described.process()] {
      for feature in Feature.allCases { #expect(verdict(feature, facts).works, "\(feature)") }
    }
    #expect(verdict(.inspect, Described.facts()).standing == .works)
    #expect(verdict(.record, Described.process()).standing == .conditional([.atNextStart]))
    #expect(verdict(.snapshot, Described.process()).standing == .conditional([.onceRecorded]))
  }

  // MARK: The right to trace

  @Test(
    "Yama 1 and 2 require a capability to trace, and 3 forbids tracing",
    arguments: [(1, "sudo leaktrace inspect 4711"), (2, "sudo leaktrace inspect 4711"), (3, "leaktrace record --")])
  func yama(_ scope: Int, _ words: String) throws {
    let facts = Described.refused(errno: EPERM) { $0.machine.ptraceScope = scope }
    #expect(verdict(.inspect, facts).standing == .fails(.tracing(.ptraceScope(scope))))
    #expect(try #require(remedy(.inspect, facts)).contains(words))
    // Yama also refuses to trace this process's own child, because the tracer is another child and not an ancestor.
    let here = Described.facts {
      $0.machine.ptraceScope = scope
      $0.trials.inspect = .failed(.inspection(.processRefused(7, errno: EPERM)))
      $0.trials.attach = .failed(.attachment(.inspection(.processRefused(7, errno: EPERM))))
    }
    expectFailure([.attach, .inspect, .watch], .tracing(.ptraceScope(scope)), here)
  }

  @Test("Root with the capability is refused only by Yama's mode 3") func yamaForRoot() {
    for scope in 1...3 {
      let facts = Described.refused(errno: EPERM) {
        $0.machine.userID = 0
        $0.machine.capabilities = [.tracing, .administration]
        $0.machine.ptraceScope = scope
      }
      let expected: TracingObstacle = scope == 3 ? .ptraceScope(3) : .unknown(errno: EPERM)
      #expect(verdict(.attach, facts).standing == .fails(.tracing(expected)), "\(scope)")
      #expect(verdict(.attach, facts).remedy == (scope == 3 ? .restartSystem : nil), "\(scope)")
    }
  }

  @Test("Root in a container lacks the capability, and the remedy names the container's tool")
  func containers() throws {
    let expected: [MachineFacts.Container: String] = [
      .docker: "docker run --pid container:NAME --cap-add SYS_PTRACE --user 0 IMAGE leaktrace attach 4711",
      .podman: "podman run --pid container:NAME --cap-add SYS_PTRACE --user 0 IMAGE leaktrace attach 4711",
      .kubernetes: "kubectl debug -it POD --image=IMAGE --target=CONTAINER --profile=general",
      .none: "run leaktrace as root with the capability CAP_SYS_PTRACE",
    ]
    for (container, words) in expected {
      let facts = Described.refused(errno: EPERM) {
        $0.machine.container = container
        $0.machine.userID = 0
        $0.machine.groupID = 0
      }
      #expect(verdict(.attach, facts).standing == .fails(.tracing(.rootWithoutCapability)))
      #expect(remedy(.attach, facts) == words)
    }
  }

  @Test("Obstacles are checked in the order of the kernel's checks") func reasons() {
    func obstacle(_ code: Int32 = EPERM, _ change: (inout CheckedFacts) -> Void) -> TracingObstacle {
      let facts = Described.refused(errno: code, change)
      return TracingJudgement(facts.machine, facts.target).obstacle(errno: code)
    }
    #expect(obstacle { $0.target?.userIDs = [33, 33, 33] } == .otherUser(33))
    // One foreign user ID of the three is enough, and so is a foreign group ID.
    #expect(obstacle { $0.target?.userIDs = [1000, 1000, 33] } == .otherUser(33))
    #expect(obstacle { $0.target?.groupIDs = [33, 33, 33] } == .otherUser(1000))
    #expect(obstacle { $0.target?.isDumpable = false } == .undumpable)
    #expect(obstacle { $0.target?.capabilities = .tracing } == .moreCapabilities)
    #expect(obstacle { $0.target?.userNamespace = .other } == .otherUserNamespace)
    #expect(obstacle { $0.target?.isHidden = true } == .hidden)
    #expect(obstacle { $0.machine.filter = .filter } == .ownFilter)
    #expect(obstacle(ENOSYS) { _ in } == .ownFilter)
    let labels: (inout CheckedFacts) -> Void = {
      $0.machine.securityLabel = "docker-default (enforce)"
      $0.target?.securityLabel = "unconfined"
    }
    #expect(obstacle(EACCES, labels) == .securityModule(own: "docker-default (enforce)", other: "unconfined"))
    #expect(obstacle(EACCES) { _ in } == .unknown(errno: EACCES))
  }

  @Test("A process that cannot gain privileges gets no sudo advice") func noNewRights() {
    let facts = Described.refused(errno: EPERM) {
      $0.machine.cannotGainRights = true
      $0.target?.userIDs = [0, 0, 0]
    }
    #expect(remedy(.inspect, facts) == "run leaktrace as root outside of this sandbox")
    let docker = Described.refused(errno: EPERM) {
      $0.machine.container = .docker
      $0.target?.userIDs = [33, 33, 33]
    }
    #expect(remedy(.inspect, docker) == "docker exec --user 33 CONTAINER leaktrace inspect 4711")
  }

  // MARK: Filters of system calls

  @Test("Only root can copy a process with a filter, and other users need --hold") func filtered() throws {
    let facts = Described.process { $0.target?.filter = .filter }
    for feature in [Feature.inspect, .watch] { #expect(verdict(feature, facts).standing == .fails(.filtered)) }
    #expect(verdict(.attach, facts).standing == .fails(.unreadableFilter))
    #expect(try #require(remedy(.inspect, facts)).hasPrefix("leaktrace inspect --hold 4711"))
    #expect(remedy(.watch, facts) == "sudo leaktrace watch 4711")
    let root = facts.with {
      $0.machine.userID = 0
      $0.machine.capabilities = [.tracing, .administration]
    }
    #expect(verdict(.inspect, root).standing == .works)
    #expect(verdict(.attach, root).standing == .conditional([.ifFilterAllows]))
    // If leaktrace itself has a filter or is in another user namespace, root cannot copy the process either.
    #expect(!verdict(.inspect, root.with { $0.machine.filter = .filter }).works)
    #expect(!verdict(.inspect, root.with { $0.machine.isInFirstUserNamespace = false }).works)
    let pod = facts.with {
      $0.machine.container = .kubernetes
      $0.machine.userID = 0
    }
    #expect(remedy(.attach, pod) == "kubectl debug -it POD --image=IMAGE --target=CONTAINER --profile=sysadmin")
    let strict = root.with { $0.target?.filter = .strict }
    #expect(verdict(.attach, strict).standing == .fails(.unreadableFilter) && remedy(.attach, strict) == nil)
  }

  // MARK: The system and the installation

  @Test("Old glibc, other C libraries and other processors are unsupported") func system() {
    let recording: [Feature] = [.record, .light, .snapshot, .attach]
    expectFailure(recording, .cLibrary(27), Described.facts { $0.machine.cLibrary = 27 })
    expectFailure(recording, .cLibrary(nil), Described.facts { $0.machine.cLibrary = nil })
    expectFailure([], .cLibrary(31), Described.facts { $0.machine.cLibrary = 31 })
    expectFailure(
      recording + [.inspect, .watch], .otherProcessor("riscv64"), Described.facts { $0.machine.processor = "riscv64" })
    expectFailure([], .cLibrary(31), Described.facts { $0.machine.processor = "aarch64" })
    // A process in a container has its own C library.
    let contained = Described.process { $0.target?.cLibrary = 28 }
    #expect(verdict(.attach, contained).standing == .fails(.cLibrary(28)))
  }

  @Test("A missing, unusable or unloaded recorder is reported") func recorder() {
    let recording: [Feature] = [.record, .light, .snapshot, .attach]
    let missing = Described.facts {
      $0.installation.recorder = .failed(.recording(.libraryNotFound(searched: ["/a/libleaktrace.so"])))
    }
    expectFailure(recording, .recorderMissing(searched: ["/a/libleaktrace.so"]), missing)
    #expect(remedy(.record, missing) == "export LEAKTRACE_LIBRARY=/path/to/libleaktrace.so")
    let unusable = Described.facts {
      $0.installation.recorder = .failed(.recording(.libraryUnusable(path: "/x", reason: "it is damaged")))
    }
    expectFailure(recording, .recorderUnusable(path: "/x", reason: "it is damaged"), unusable)
    let unloaded = Described.facts { $0.trials.record = .failed(.notLoaded(path: "/x")) }
    expectFailure([.record], .trial(.notLoaded(path: "/x")), unloaded)
    let imageless = Described.facts {
      $0.trials.light = .done(RecordedTrial(program: "/bin/true", events: 1, hasImage: false))
    }
    expectFailure([.light], .noImage, imageless)
  }

  @Test("A read-only or full directory is reported") func directory() throws {
    let readOnly = Described.facts { $0.installation.output.writeError = EROFS }
    expectFailure([.record, .light, .snapshot, .attach], .directory(path: "/srv", errno: EROFS), readOnly)
    for (container, words) in [
      (MachineFacts.Container.none, "leaktrace record -o "), (.docker, "mount a volume"), (.kubernetes, "an emptyDir"),
    ] {
      let facts = readOnly.with { $0.machine.container = container }
      #expect(try #require(remedy(.record, facts)).contains(words))
    }
    // If the directory is full, the recorder writes a message, and attaching fails with an error.
    let message = "cannot write /srv/t: No space left on device"
    let full = Described.facts {
      $0.trials.record = .failed(.message(message))
      $0.trials.attach = .failed(.attachment(.refused(7, reason: message)))
    }
    expectFailure([.record, .attach], .directory(path: "/srv", errno: ENOSPC), full)
    let small = Described.facts { $0.installation.output.freeBytes = 1 << 20 }
    #expect(verdict(.record, small).standing == .conditional([.littleRoom(bytes: 1 << 20)]))
    #expect(verdict(.inspect, small).standing == .works)
  }

  @Test("A nearly full control group is reported") func memory() {
    let group = ProcessMemoryUse.GroupUse(used: 95, limit: 100)
    let facts = Described.facts { $0.machine.groupMemory = group }
    #expect(verdict(.record, facts).standing == .conditional([.littleMemory(used: 95, limit: 100)]))
    #expect(verdict(.fieldNames, facts).standing == .works)
    let process = Described.process {
      $0.target?.memory = ProcessMemoryUse()
      $0.target?.memory?.group = group
    }
    #expect(verdict(.inspect, process).standing == .conditional([.littleMemory(used: 95, limit: 100)]))
  }

  // MARK: Programs

  @Test("Static programs, other loaders and built-in allocators are reported") func programs() {
    let linkedStatically = Described.process {
      $0.target?.startObstacle = .untraceable(path: "/srv/x", .staticallyLinked)
      $0.target?.joinObstacle = .static
    }
    #expect(
      verdict(.record, linkedStatically).standing
        == .fails(.notStartable(.untraceable(path: "/srv/x", .staticallyLinked))))
    #expect(verdict(.attach, linkedStatically).standing == .fails(.notJoinable(.static)))
    #expect(verdict(.attach, linkedStatically).remedy == .linkDynamically)
    #expect(verdict(.inspect, linkedStatically).standing == .works)
    let inside = Described.process { $0.target?.allocator = .inside }
    expectFailure([.record, .light], .allocatorInside, inside)
    let sanitized = inside.with { $0.target?.sanitizer = "app" }
    #expect(verdict(.record, sanitized).standing == .fails(.sanitizer("app")))
    #expect(verdict(.inspect, sanitized).standing == .conditional([.withoutBlocks(allocator: "app")]))
    let privileged = Described.process {
      $0.target?.startObstacle = .untraceable(path: "/srv/x", .privileged(.setUserID))
    }
    expectFailure(
      [.record, .light], .notStartable(.untraceable(path: "/srv/x", .privileged(.setUserID))), privileged)
    #expect(verdict(.record, privileged).remedy == .copyWithoutBit)
    let capable = Described.process {
      $0.target?.startObstacle = .untraceable(path: "/srv/x", .privileged(.fileCapabilities))
    }
    #expect(verdict(.record, capable).remedy == .copyWithoutCapabilities)
  }

  @Test("Processes that cannot be traced or have no Swift are reported") func languages() {
    for reason in [AttachmentError.Unsuitability.go, .java] {
      let facts = Described.process {
        $0.target?.joinObstacle = reason
        $0.target?.hasSwift = false
      }
      #expect(verdict(.inspect, facts).standing == .fails(.notJoinable(reason)))
      #expect(verdict(.attach, facts).standing == .fails(.notJoinable(reason)))
    }
    let c = Described.process { $0.target?.hasSwift = false }
    expectFailure([.inspect, .watch, .fieldNames], .noSwift, c)
    #expect(verdict(.inspect, c).remedy == .attach && verdict(.fieldNames, c).remedy == nil)
    for reason in [InspectionError.Unsuitability.ended, .kernelThread, .otherMachine, .firstThreadEnded] {
      let facts = Described.process { $0.target?.unsuitability = reason }
      for feature in Feature.allCases { #expect(verdict(feature, facts).standing == .fails(.unsuitable(reason))) }
    }
    let traced = Described.process { $0.target?.unsuitability = .traced(by: 99) }
    #expect(verdict(.attach, traced).remedy == .endTracer(99))
    #expect(verdict(.record, traced).works && verdict(.sourceLines, traced).works)
  }

  @Test("A process that is already recorded is reported") func recordings() {
    let preloaded = Described.process { $0.target?.recording = .runs(tracePath: "/t", isAttached: false) }
    expectFailure([.attach], .recordsAlready(tracePath: "/t"), preloaded)
    #expect(verdict(.snapshot, preloaded).standing == .works)
    let attached = Described.process { $0.target?.recording = .runs(tracePath: "/t", isAttached: true) }
    #expect(verdict(.attach, attached).standing == .conditional([.onceDetached(tracePath: "/t")]))
    // A snapshot of a recording process needs no right to trace that process.
    let untraceable = attached.with { $0.trials.seize = .failed(.system(errno: EPERM)) }
    #expect(verdict(.snapshot, untraceable).standing == .works && !verdict(.attach, untraceable).works)
  }

  @Test("A process that cannot read /proc has no heap images") func withoutProc() {
    let facts = Described.process { $0.target?.seesProcesses = false }
    #expect(verdict(.attach, facts).standing == .conditional([.withoutImages]))
    #expect(verdict(.snapshot, facts).standing == .conditional([.onceRecorded, .withoutImages]))
    #expect(verdict(.inspect, facts).standing == .works)
  }

  @Test("A process with its own files or another user loads the recorder from its own /tmp") func copies() {
    func facts(_ shares: Bool, _ user: UInt32) -> CheckedFacts {
      Described.process {
        $0.target?.sharesFiles = shares
        $0.target?.userIDs = [user, user, user]
        $0.target?.temporaryDirectory = DirectoryFacts(path: "/proc/4711/root/tmp")
        $0.target?.temporaryDirectory?.forbidsCode = true
      }
    }
    #expect(verdict(.attach, facts(true, 1000)).standing == .works)
    for other in [facts(false, 1000), facts(true, 33)] {
      #expect(verdict(.attach, other).standing == .fails(.directoryForbidsCode(path: "/proc/4711/root/tmp")))
    }
    #expect(remedy(.attach, facts(false, 1000)) == "nsenter -t 4711 -m mount -o remount,exec /tmp")
    let docker = facts(false, 1000).with { $0.machine.container = .docker }
    #expect(remedy(.attach, docker) == "docker run --tmpfs /tmp:exec …")
  }

  // MARK: Files

  @Test("Core files depend on limits, filters and core_pattern") func cores() {
    let off = Described.process { $0.target?.coreSizeLimit = 0 }
    expectFailure([.coreFiles], .coresOff, off)
    #expect(remedy(.coreFiles, off) == "prlimit --pid 4711 --core=unlimited")
    #expect(verdict(.coreFiles, off.with { $0.machine.cores.hasGcore = true }).works)
    // A program that handles cores gets them whatever the limit is.
    #expect(verdict(.coreFiles, off.with { $0.machine.cores.pattern = "|/lib/systemd/systemd-coredump %P" }).works)
    let filtered = Described.process { $0.target?.coreFilter = 0x32 }
    expectFailure([.coreFiles], .coreFilter(0x32), filtered)
    #expect(remedy(.coreFiles, filtered) == "echo 0x33 > /proc/4711/coredump_filter")
    expectFailure([.coreFiles], .coreOfUndumpable, Described.process { $0.target?.isDumpable = false })
    let here = Described.facts { $0.machine.cores.sizeLimit = 0 }
    #expect(verdict(.coreFiles, here).standing == .conditional([.onceWritten(byGcore: false)]))
  }

  @Test("Field names need the mirror library and the program's files; lines need debug information") func names() {
    let missing = Described.facts { $0.installation.mirror = .failed(.libraryMissing(searched: ["/a"])) }
    expectFailure([.fieldNames], .mirrorMissing(searched: ["/a"]), missing)
    func facts(_ reason: ImageProblem.Reason) -> CheckedFacts {
      Described.process {
        $0.target?.fileProblems = [ImageProblem(imagePath: "/srv/app", buildID: [1, 2], file: nil, reason: reason)]
      }
    }
    expectFailure(
      [.sourceLines], .noDebugInformation(path: "/srv/app", buildID: [1, 2]), facts(.noDebugInformation))
    expectFailure([.fieldNames, .sourceLines], .fileMissing(path: "/srv/app", buildID: [1, 2]), facts(.fileMissing))
    expectFailure(
      [.fieldNames, .sourceLines], .otherBuild(path: "/srv/app", buildID: [1, 2]),
      facts(.buildIDMismatch(expected: "0102", found: "03")))
    expectFailure(
      [.fieldNames, .sourceLines], .fileUnreadable(path: "/srv/app", errno: EACCES),
      facts(.unreadable(.system(errno: EACCES))))
    // A file that cannot be accessed is not reported as absent.
    let refused = Described.refused(errno: EPERM) { $0.target?.userIDs = [0, 0, 0] }
    #expect(verdict(.fieldNames, refused).standing == .fails(.tracing(.otherUser(0))))
  }
}

extension CheckedFacts {
  func with(_ change: (inout CheckedFacts) -> Void) -> CheckedFacts {
    var facts = self
    change(&facts)
    return facts
  }
}
