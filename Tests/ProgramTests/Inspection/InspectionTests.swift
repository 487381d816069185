// Inspections of processes and of core files.

import AllocationReports
import CZstd
import Foundation
import HeapAnalysis
@testable import ProcessInspection
import TestRequirements
import Testing
import TextWriting
import TraceReading

@Suite(.requires(.command)) struct InspectionTests {
  /// A program that has printed `ready PROCESS`, and waits.
  final class Waiting {
    let running: RunningCommand
    let processID: Int32
    let printed: String
    let directory: TemporaryDirectory

    /// - Parameter library: A library to preload, after the recorder.
    convenience init(
      _ program: String, _ arguments: [String] = [], under recorder: [String] = [], preloading library: String = ""
    ) throws {
      try self.init(TestProgram(program), arguments, under: recorder, preloading: library)
    }

    init(
      _ program: TestProgram, _ arguments: [String] = [], under recorder: [String] = [], preloading library: String = ""
    ) throws {
      let directory = try TemporaryDirectory()
      self.directory = directory
      let output = directory.path + "/printed"
      let recorder = recorder.map { $0.replacingOccurrences(of: "%DIRECTORY%", with: directory.path) }
      running = try Command(
        recorder + [
          "/bin/sh", "-c",
          "export LD_PRELOAD=\"${LD_PRELOAD:+$LD_PRELOAD:}\(library)\"; exec \"$0\" \"$@\" >\"\(output)\"",
        ] + [try program.path()] + arguments
      ).start()
      (printed, processID) = try AwaitedState.value("\(program.name) is ready") {
        let printed = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
        guard printed.hasSuffix("\n"), let ready = printed.split(separator: "\n").last, ready.hasPrefix("ready ")
        else { return nil }
        return (printed, try #require(Int32(ready.dropFirst(6))))
      }
    }

    /// The process IDs of its children, including zombies.
    var children: [String] {
      ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).filter { entry in
        guard Int32(entry) != nil, let stat = try? String(contentsOfFile: "/proc/\(entry)/stat", encoding: .utf8),
          let end = stat.lastIndex(of: ")")
        else { return false }
        // In the file, the state and then the parent's process ID follow the name.
        return stat[end...].split(separator: " ").dropFirst(2).first == "\(processID)"
      }
    }

    /// The lines about a tracer or a traced stop in the status files of its threads.
    var states: Set<String> {
      let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/task")) ?? []
      return Set(
        tasks.flatMap { task in
          let status = (try? String(contentsOfFile: "/proc/\(processID)/task/\(task)/status", encoding: .utf8)) ?? ""
          return status.split(separator: "\n").filter { $0.hasPrefix("TracerPid:\t") || $0.hasPrefix("State:\tt") }
            .map(String.init)
        })
    }

    /// Returns the path of the recorded program's trace, once the trace has an image.
    ///
    /// The shell that became the program has left a trace as well, and that trace may have an image too. The program's
    /// trace is the later one, with the higher number at the end of its name.
    func trace() -> String? {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
      let last = names.filter { $0.contains(".trace") && !$0.hasSuffix(".live") }
        .max { $0.compare($1, options: .numeric) == .orderedAscending }
      return last.map { "\(directory.path)/\($0)" }
        .flatMap { (try? TraceReader(path: $0))?.snapshots.isEmpty == false ? $0 : nil }
    }

    /// Sends a signal that ends the program, and waits. Returns also the last line that the program printed.
    func end(_ signal: Int32) throws -> (outcome: Command.Outcome, last: String) {
      kill(processID, signal)
      let outcome = try running.wait()
      let printed = try String(contentsOfFile: directory.path + "/printed", encoding: .utf8)
      return (outcome, printed.split(separator: "\n").last.map(String.init) ?? "")
    }
  }

  /// Returns the findings that an inspection reports, as `VERDICT title × instances`, and its number of blocks.
  private static func inspect(_ target: String, options: [String] = []) throws -> (findings: [String], blocks: UInt64) {
    let outcome = try Command(
      [BuildProducts.leaktrace, "inspect", target, "--format", "json"] + options
    ).run()
    try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let report = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    let only = try #require((report["reports"] as? [[String: Any]])?.first)
    let leaks = try #require(only["findings"] as? [[String: Any]])
    let trace = try #require((only["traces"] as? [[String: Any]])?.first)
    #expect(trace["isInspection"] as? Bool == true)
    let live = try #require((trace["atExit"] as? [String: Any])?["liveBlocks"] as? Int)
    return (
      leaks.map { "\($0["verdict"] ?? "") \($0["title"] ?? "") × \($0["instances"] ?? "")" }, UInt64(live)
    )
  }

  private static let expected = ["retainCycle Screen ↺ × 40"]

  @Test("A live process, a held one and its core file give the same findings", .requires(.debugger))
  func findings() throws {
    let program = try Waiting("inspected.swift")
    let live = try Self.inspect(String(program.processID))
    #expect(live.findings == Self.expected)
    let held = try Self.inspect(String(program.processID), options: ["--hold"])
    #expect(held == live)
    let core = program.directory.path + "/core"
    let dumping = try Command([
      "gdb", "-nx", "-batch", "-p", String(program.processID), "-ex", "gcore \(core)",
    ]).run()
    #expect(FileManager.default.fileExists(atPath: core), "\(dumping.errorOutput)")
    #expect(try Self.inspect(core) == live)
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: core)))
    let packed = [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { buffer, count in
      count = ZSTD_compress(buffer.baseAddress, buffer.count, bytes, bytes.count, 1)
    }
    try Data(packed).write(to: URL(fileURLWithPath: core + ".zst"))
    #expect(try Self.inspect(core + ".zst") == live)
    #expect(program.children.isEmpty && program.states == ["TracerPid:\t0"])
    #expect(try program.end(SIGTERM).outcome.end == .signal(SIGTERM))
  }

  @Test(
    "Stale words of queues and handles do not keep suspended tasks", arguments: ["inspected", "recorded"])
  func waitingTasks(way: String) throws {
    let recorder = [BuildProducts.leaktrace, "record", "--light", "--quiet", "-o", "%DIRECTORY%/%p.trace", "--"]
    let program = try Waiting("waiting-tasks.swift", under: way == "recorded" ? recorder : [])
    var question = ["inspect", String(program.processID)]
    if way == "recorded" {
      let asked = try Command([BuildProducts.leaktrace, "snapshot", String(program.processID)]).run()
      #expect(asked.end == .exit(0), "\(asked.errorOutput)")
      question = ["analyze", try #require(program.trace())]
    }
    let outcome = try Command([BuildProducts.leaktrace] + question + ["--format", "json"]).run()
    let report = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    let findings = (report["reports"] as? [[String: Any]])?.first?["findings"] as? [[String: Any]] ?? []
    #expect(findings.allSatisfy { $0["verdict"] as? String == "suspended" })
    // The findings have eleven of the actor's twelve tasks, four times three children, and six parents.
    #expect(findings.compactMap { $0["instances"] as? Int }.sorted() == [6, 11, 12], "\(outcome.output)")
    _ = try program.end(SIGKILL)
  }

  @Test(
    "The allocator's metadata and a recording list the same blocks", .requires(.recorder),
    arguments: ["", "libjemalloc.so.2", "libtcmalloc_minimal.so.4"])
  func blocks(allocator: String) throws {
    let program = try Waiting(
      "inspected.swift",
      under: [BuildProducts.leaktrace, "record", "--quiet", "-o", "%DIRECTORY%/%p.trace", "--"],
      preloading: allocator)
    let asked = try Command([BuildProducts.leaktrace, "snapshot", String(program.processID)]).run()
    #expect(asked.end == .exit(0), "\(asked.errorOutput)")
    let inspection = program.directory.path + "/inspection"
    let outcome = try Command([
      BuildProducts.leaktrace, "inspect", String(program.processID), "-o", inspection,
    ]).run()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let trace = try #require(program.trace())
    let (recorded, inspected) = (try Blocks(trace), try Blocks(inspection))
    #expect(recorded.sizes.count > 400)
    #expect(Set(recorded.sizes.keys).subtracting(inspected.sizes.keys).isEmpty)
    // jemalloc has some blocks that the recorder has not seen: blocks of its own, and blocks from before the recorder
    // started.
    let maxUnseen = allocator.isEmpty ? 0 : 16
    #expect(Set(inspected.sizes.keys).subtracting(recorded.sizes.keys).count <= maxUnseen)
    for (address, size) in recorded.sizes {
      guard let usable = inspected.sizes[address] else { continue }
      // The usable size is the requested size rounded up: to the next multiple of 16, by a remainder too small for a
      // chunk of its own, or to a whole page. jemalloc's size classes are a quarter apart.
      let rounding = allocator.isEmpty ? size < 100_000 ? 39 : 4096 : size / 4 + 16
      #expect(usable >= size && usable <= size + rounding, "\(Hexadecimal.text(address))")
      #expect(inspected.types[address] == recorded.types[address], "\(Hexadecimal.text(address))")
    }
    _ = try program.end(SIGKILL)
  }

  @Test(
    "Inspections of the corpus agree with recordings in blocks, findings and cores", .secondTier, .requires(.recorder),
    .requires(.debugger))
  func corpus() throws {
    _ = try CorpusProgram.corpus.path(.dynamicOptimised)
    var command = Command([
      "python3", "-B", "-m", "trials.inspections", "--products",
      URL(fileURLWithPath: BuildProducts.leaktrace).deletingLastPathComponent().path, "--short", "--cores",
    ])
    command.environment["PYTHONPATH"] = BuildProducts.packageRoot + "/Tests/Trials"
    let outcome = try command.run()
    #expect(outcome.end == .exit(0), "\(outcome.output)\(outcome.errorOutput)")
  }

  /// Returns the names of the allocators whose blocks an inspection found.
  private static func allocators(_ process: Int32) throws -> [String] {
    let outcome = try Command([BuildProducts.leaktrace, "inspect", String(process), "--format", "json"]).run()
    try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let allocators = try Self.residentMemory(outcome.output)["allocators"] as? [[String: Any]]
    return try #require(allocators).compactMap { $0["name"] as? String }
  }

  private static func report(_ json: String) throws -> [String: Any] {
    let document = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    return try #require((document["reports"] as? [[String: Any]])?.first)
  }

  private static func residentMemory(_ json: String) throws -> [String: Any] {
    try #require(try report(json)["residentMemory"] as? [String: Any])
  }

  @Test(
    "Memory that resembles jemalloc's extent tree is not taken as one",
    arguments: ["pointer-tables.swift", "inspected.swift"])
  func pointerTables(program: String) throws {
    let program = try Waiting(program)
    #expect(try Self.allocators(program.processID) == ["glibc"])
    _ = try program.end(SIGKILL)
  }

  @Test(
    "A large program has only the blocks of its own allocator", .requires(.program("sourcekit-lsp")))
  func languageServer() throws {
    let found = try Command(["/bin/sh", "-c", "readlink -f \"$(command -v sourcekit-lsp)\""]).run()
    let path = found.output.trimmingCharacters(in: .whitespacesAndNewlines)
    // The server waits for a request while its input is open.
    let server = try Command(["/bin/sh", "-c", "sleep 600 | exec \"$0\"", path]).start()
    defer {
      server.sendToGroup(SIGKILL)
      _ = try? server.wait()
    }
    let process = try AwaitedState.value("the language server has threads") { () -> Int32? in
      let entries = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }
      return entries.first { entry in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(entry)/exe")) == path
          && getpgid(entry) == getpgid(server.processID)
          && ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(entry)/task"))?.count ?? 0) > 2
      }
    }
    #expect(try Self.allocators(process) == ["glibc"])
  }

  @Test(
    "Memory kept by the allocator matches its own figures, and the report gives the reason", .requires(.recorder),
    arguments: TestTier.arguments(["arenas"], of: ["pinned", "arenas", "mapped"]), ["inspected", "recorded"])
  func keptMemory(kind: String, way: String) throws {
    let isRecorded = way == "recorded"
    let recorder = [BuildProducts.leaktrace, "record", "--quiet", "-o", "%DIRECTORY%/%p.trace", "--"]
    let program = try Waiting("kept-arenas.swift", [kind], under: isRecorded ? recorder : [])
    let line = try #require(program.printed.split(separator: "\n").first).split(separator: " ")
    func ownFigure(_ name: Substring) throws -> Int {
      let index = try #require(line.firstIndex(of: name))
      return try #require(Int(line[index + 1]))
    }
    var question = ["inspect", String(program.processID)]
    if isRecorded {
      let asked = try Command([BuildProducts.leaktrace, "snapshot", String(program.processID)]).run()
      #expect(asked.end == .exit(0), "\(asked.errorOutput)")
      question = ["analyze", try #require(program.trace())]
    }
    let text = try Command([BuildProducts.leaktrace] + question).run()
    #expect(text.end == .exit(0), "\(text.errorOutput)")
    let outcome = try Command([BuildProducts.leaktrace] + question + ["--format", "json"]).run()
    let memory = try Self.residentMemory(outcome.output)
    let allocator = try #require((memory["allocators"] as? [[String: Any]])?.first)
    func figure(_ name: String) throws -> Int { try #require(allocator[name] as? Int, "\(name)") }
    // The program has printed since it read its own figures. Its threads also have a few cached blocks, which it counts
    // as used.
    let tolerance = 1 << 20
    #expect(try figure("system") == ownFigure("arena"))
    #expect(try figure("mapped") == ownFigure("mapped"))
    #expect(try abs(figure("free") + figure("top") - ownFigure("free")) < tolerance)
    #expect(try abs(figure("inUse") - figure("mapped") + figure("cached") - ownFigure("used")) < tolerance)
    let freePages = try figure("freePages")
    let answer = try #require(Self.report(outcome.output)["summary"] as? String)
    let status = try String(contentsOfFile: "/proc/\(program.processID)/smaps_rollup", encoding: .utf8)
    let resident =
      try #require(
        status.split(separator: "\n").first { $0.hasPrefix("Rss:") }.flatMap { Int($0.split(separator: " ")[1]) }) << 10
    // The recorder's own memory is not counted as the program's.
    let others = isRecorded ? 32 << 20 : resident / 10
    #expect(try abs(#require(memory["resident"] as? Int) - resident) < others)
    switch kind {
    case "pinned":
      #expect(freePages > 120 << 20 && freePages < resident)
      #expect((memory["pin"] as? [String: Any])?["freeBelow"] as? Int ?? 0 > 120 << 20)
      #expect(text.output.contains("malloc_trim(0)") && !text.output.contains("MALLOC_ARENA_MAX"))
      #expect(answer.contains("glibc keeps ") && answer.contains("(remedy: malloc_trim(0))"), "\(answer)")
    case "arenas":
      #expect(try figure("arenas") > 8 && figure("freeInOtherArenas") > 64 << 20)
      #expect(answer.contains("glibc keeps ") && answer.contains("MALLOC_ARENA_MAX=2"), "\(answer)")
    default:
      #expect(try figure("mapped") >= 120 << 20)
      #expect(!text.output.contains("malloc_trim") && !answer.contains("glibc keeps"), "\(answer)")
    }
    _ = try program.end(SIGKILL)
  }

  /// The live blocks of a trace's last image.
  private struct Blocks {
    var sizes: [UInt64: UInt64] = [:]
    /// The names of the types of Swift objects, by address.
    var types: [UInt64: String] = [:]

    init(_ path: String) throws {
      let reader = try TraceReader(path: path)
      let snapshot = try #require(reader.snapshots.last)
      let analysis = AllocationAnalysis(reader, snapshot: snapshot)
      let sites = Array(analysis.sites)
      for block in analysis.blocksAtSnapshot {
        sizes[block.address] = block.size
        let site = sites[Int(block.site.rawValue)]
        if site.operation == .object { types[block.address] = analysis.typeName(of: site) }
      }
    }
  }

  @Test(
    "Copying a busy process disturbs no thread and leaves no trace",
    arguments: TestTier.arguments([2], of: [0, 2, 16]))
  func copies(computing: Int) throws {
    let times = 30
    let program = try Waiting("copied.c", [String(computing)])
    let address = try #require(
      program.printed.split(separator: "\n").first.flatMap { UInt64($0.dropFirst("rounds 0x".count), radix: 16) })
    for _ in 0..<times {
      let copy = try ProcessCopy(of: program.processID)
      #expect(copy.threads.count == computing + 4 && copy.missingThreads == 0)
      #expect(copy.threads.first?.threadID == program.processID && copy.pauseNanoseconds > 0)
      // The memory of the copy does not change while the process runs on.
      let first = copy.memory.bytes(at: address, count: 8 * max(1, computing))
      #expect(first.count == 8 * max(1, computing))
      usleep(2000)
      #expect(copy.memory.bytes(at: address, count: first.count) == first)
      copy.end()
      #expect(program.children.isEmpty)
    }
    #expect(program.states == ["TracerPid:\t0"])
    let ended = try program.end(SIGTERM)
    #expect(ended.outcome.end == .exit(0) && ended.last == "disturbed 0, computing", "\(ended)")
  }

  @Test("Killed inspectors leave the process unchanged") func killedInspectors() throws {
    let program = try Waiting("copied.c", ["8"])
    for round in 0..<12 {
      let inspector = try Command(
        [
          BuildProducts.leaktrace, "inspect", String(program.processID),
        ] + (round % 4 == 3 ? ["--hold"] : [])
      ).start()
      usleep(UInt32(round) * 4000)
      inspector.sendToGroup(SIGKILL)
      _ = try inspector.wait()
      try AwaitedState.wait(until: "nothing is left of the inspector") {
        program.children.isEmpty && program.states == ["TracerPid:\t0"]
      }
    }
    let ended = try program.end(SIGTERM)
    #expect(ended.outcome.end == .exit(0) && ended.last == "disturbed 0, computing", "\(ended)")
  }

  @Test("A stopped process stays stopped") func stopped() throws {
    let program = try Waiting("copied.c", ["2"])
    kill(program.processID, SIGSTOP)
    func isStopped() -> Bool {
      let status = (try? String(contentsOfFile: "/proc/\(program.processID)/status", encoding: .utf8)) ?? ""
      return status.contains("State:\tT")
    }
    try AwaitedState.wait(until: "the process has stopped") { isStopped() }
    let held = try ProcessCopy(of: program.processID, holds: true)
    #expect(held.threads.count == 6)
    held.end()
    try AwaitedState.wait(until: "the process has stopped again") { isStopped() }
    kill(program.processID, SIGCONT)
    #expect(try program.end(SIGTERM).last == "disturbed 0, computing")
  }
}
