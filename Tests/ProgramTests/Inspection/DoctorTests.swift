// `leaktrace doctor` on real processes: its answers agree with the results of the features' own commands.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct DoctorTests {
  /// An answer of `doctor`.
  struct Answer {
    var status: Int32
    var standing: [String: String] = [:]
    var explanation: [String: String] = [:]
    var remedy: [String: String] = [:]
    var document: [String: Any]

    /// - Parameter command: The command, perhaps with a prefix such as `setpriv`. `doctor` is run with `--format json`.
    init(_ command: [String], _ arguments: [String], in directory: String = "/", environment: [String: String] = [:])
      throws
    {
      var run = Command(command + ["doctor", "--format", "json"] + arguments)
      run.directory = directory
      run.environment.merge(environment) { $1 }
      let outcome = try run.run()
      guard case .exit(let status) = outcome.end, outcome.errorOutput.isEmpty,
        let document = try? JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any],
        let features = document["features"] as? [[String: Any]]
      else { throw CommandFailure("\(outcome)") }
      (self.status, self.document) = (status, document)
      for feature in features {
        guard let name = feature["feature"] as? String else { continue }
        standing[name] = feature["standing"] as? String
        explanation[name] = feature["explanation"] as? String
        remedy[name] = feature["remedy"] as? String
      }
    }

    func fails(_ feature: String, _ words: String, _ remedy: String? = nil) -> Bool {
      standing[feature] == "fails" && explanation[feature]?.contains(words) == true
        && (remedy.map { self.remedy[feature]?.contains($0) == true } ?? true)
    }
  }

  /// Starts a command, which replaces itself by a program. Returns once that program waits in `pause` or `sleep`.
  static func waiting(_ command: [String]) throws -> RunningCommand {
    let running = try Command(command).start()
    try AwaitedState.wait(until: "\(command.last ?? "") waits") {
      let state = ProcessState(processID: running.processID)
      if state.hasEnded { throw CommandFailure("\(command) has ended") }
      return state.waits(in: [SystemCall.pause, 35, 230])
    }
    return running
  }

  private static func end(_ running: RunningCommand) throws {
    running.send(SIGKILL)
    _ = try running.wait()
  }

  private static func asked(_ features: [String]) -> [String] { features.flatMap { ["--feature", $0] } }

  /// The command, run by a user who is not root, from a folder that this user can access.
  private final class Nobody {
    let directory: TemporaryDirectory
    let command: [String]
    static let prefix = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]

    init() throws {
      directory = try TemporaryDirectory()
      for file in [BuildProducts.leaktrace, BuildProducts.preloadLibrary] {
        try FileManager.default.copyItem(
          atPath: file, toPath: directory.path + "/" + URL(fileURLWithPath: file).lastPathComponent)
      }
      chmod(directory.path, 0o1777)
      command = Self.prefix + [directory.path + "/leaktrace"]
    }

    /// Starts a program as this user, and returns once it waits in `pause` or `sleep`.
    func start(_ program: TestProgram, _ arguments: [String] = [], under: [TestProgram] = [], options: [String] = [])
      throws -> RunningCommand
    {
      let copies = try (under + [program]).map { program in
        let copy = directory.path + "/" + program.name
        if access(copy, F_OK) != 0 { try FileManager.default.copyItem(atPath: program.path(), toPath: copy) }
        return copy
      }
      let command = copies.dropLast().flatMap { [$0] + options } + [copies.last!] + arguments
      return try DoctorTests.waiting(Self.prefix + command)
    }
  }

  private static let isRoot = geteuid() == 0
  private static let features = [
    "record", "light", "snapshot", "attach", "inspect", "watch", "core-files", "field-names", "source-lines",
  ]

  // MARK: On this machine

  @Test("Doctor tries every feature and leaves no file behind") func here() throws {
    let directory = try TemporaryDirectory()
    let answer = try Answer([BuildProducts.leaktrace], ["-o", directory.path], environment: ["TMPDIR": directory.path])
    #expect(answer.status == 0, "\(answer.explanation)")
    #expect(Self.features.allSatisfy { ["works", "conditional"].contains(answer.standing[$0]) })
    for feature in ["record", "light", "snapshot", "attach", "inspect", "field-names"] {
      #expect(answer.standing[feature] == "works", "\(answer.explanation[feature] ?? "")")
    }
    #expect(answer.explanation["record"]?.contains("events and a heap image") == true)
    #expect(try directory.fileNames() == [])
  }

  @Test("Text has a line for each feature at any width", arguments: ["60", "80", "120"]) func text(_ width: String)
    throws
  {
    let outcome = try Command([BuildProducts.leaktrace, "doctor", "-o", "/tmp", "--width", width]).run()
    #expect(outcome.end == .exit(0) && outcome.errorOutput.isEmpty)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= Int(width)! })
    for name in ["record", "core files", "source lines"] { #expect(lines.contains { $0.hasPrefix(name + " ") }) }
  }

  @Test("An ordinary user has every feature", .enabled(if: isRoot, "Only root becomes nobody.")) func ordinaryUser()
    throws
  {
    let nobody = try Nobody()
    let answer = try Answer(nobody.command, ["-o", nobody.directory.path])
    #expect(answer.status == 0, "\(answer.explanation)")
    #expect(answer.standing["attach"] == "works" && answer.standing["inspect"] == "works")
  }

  @Test("Doctor reports a missing or invalid recorder") func recorder() throws {
    let directory = try TemporaryDirectory()
    let asked = Self.asked(["record", "light", "snapshot", "attach", "inspect"]) + ["-o", directory.path]
    let missing = try Answer(
      [BuildProducts.leaktrace], asked, environment: ["LEAKTRACE_LIBRARY": directory.path + "/none.so"])
    #expect(missing.status == 1)
    for feature in ["record", "light", "snapshot", "attach"] {
      #expect(missing.fails(feature, "libleaktrace.so is not in \(directory.path)/none.so", "LEAKTRACE_LIBRARY="))
    }
    #expect(missing.standing["inspect"] == "works")
    let text = try directory.write("no library", to: "text.so")
    let damaged = try Answer([BuildProducts.leaktrace], asked, environment: ["LEAKTRACE_LIBRARY": text])
    #expect(damaged.fails("record", "it is not a shared library", "LEAKTRACE_LIBRARY="))
    // The loader loads this library, but it does not contain the recorder.
    let other = try TestProgram("undumpable.c", flags: ["-shared", "-fPIC"]).path()
    let silent = try Answer([BuildProducts.leaktrace], asked, environment: ["LEAKTRACE_LIBRARY": other])
    #expect(silent.fails("record", "the loader did not load \(other) into a small program"), "\(silent.explanation)")
    #expect(silent.fails("snapshot", "the loader did not load"), "\(silent.explanation)")
  }

  @Test("Doctor reports a Swift runtime without the mirror library") func mirror() throws {
    let directory = try TemporaryDirectory()
    let runtime = BuildProducts.parent(of: BuildProducts.toolchain) + "/lib/swift/linux"
    let listing = try Command(["ldd", BuildProducts.leaktrace]).run().output
    for line in listing.split(separator: "\n") {
      guard let path = line.split(whereSeparator: \.isWhitespace).first(where: { $0.hasPrefix(runtime + "/") }) else {
        continue
      }
      let name = URL(fileURLWithPath: String(path)).lastPathComponent
      try FileManager.default.copyItem(atPath: String(path), toPath: "\(directory.path)/\(name)")
    }
    try #require(try directory.fileNames().contains("libswiftCore.so"))
    let answer = try Answer(
      [BuildProducts.leaktrace], Self.asked(["field-names"]),
      environment: ["LD_LIBRARY_PATH": directory.path, "PATH": "/nowhere"])
    #expect(answer.status == 1)
    #expect(answer.fails("field-names", "libswiftRemoteMirror.so is not in ", "export PATH="), "\(answer.explanation)")
    #expect(answer.explanation["field-names"]?.hasSuffix(", \(directory.path)/libswiftRemoteMirror.so") ?? false)
  }

  @Test("Doctor reports a read-only and a full folder", .enabled(if: isRoot, "Only root mounts.")) func disks()
    throws
  {
    let directory = try TemporaryDirectory()
    let asked = "--feature record --feature light --feature snapshot --feature attach --format json -o ."
    func answer(_ mount: String) throws -> Answer {
      let script = "\(mount) && cd \(directory.path) && exec \"$0\" \"$@\""
      return try Answer(
        ["unshare", "--mount", "/bin/sh", "-c", script, BuildProducts.leaktrace],
        asked.split(separator: " ").map(String.init))
    }
    let readOnly = try answer("mount -t tmpfs -o ro tmpfs \(directory.path)")
    let full = try answer(
      "mount -t tmpfs -o size=64k tmpfs \(directory.path) && head -c 60000 /dev/zero >\(directory.path)/filler")
    for feature in ["record", "light", "snapshot", "attach"] {
      #expect(readOnly.fails(feature, "Read-only file system", "-o "), "\(readOnly.explanation)")
      #expect(full.fails(feature, "No space left on device", "-o "), "\(full.explanation)")
    }
  }

  @Test("Doctor reports a filter that forbids tracing", .enabled(if: isRoot, "The filter is root's."))
  func ownFilter() throws {
    let confines = try TestProgram("confines.c").path()
    let asked = Self.asked(["record", "attach", "inspect", "snapshot"]) + ["-o", "/tmp"]
    let here = try Answer([confines, "ptrace", BuildProducts.leaktrace], asked)
    #expect(here.standing["record"] == "works" && here.standing["snapshot"] == "works", "\(here.explanation)")
    for feature in ["attach", "inspect"] { #expect(here.fails(feature, "may not call ptrace (seccomp)", "seccomp")) }
    let program = try InspectionTests.Waiting("inspected.swift")
    for call in ["ptrace", "readv"] {
      let process = try Answer([confines, call, BuildProducts.leaktrace], asked + [String(program.processID)])
      #expect(process.fails("inspect", "may not call ptrace (seccomp)"), "\(call): \(process.explanation)")
    }
    _ = try program.end(SIGKILL)
  }

  // MARK: Processes

  @Test("Doctor examines a Swift process without stopping it") func swift() throws {
    let program = try InspectionTests.Waiting("inspected.swift")
    let before = try Self.switches(program.processID)
    let answer = try Answer([BuildProducts.leaktrace], [String(program.processID), "-o", "/tmp"])
    #expect(answer.status == 0, "\(answer.explanation)")
    #expect(answer.standing["inspect"] == "works" && answer.standing["attach"] == "works")
    #expect(answer.explanation["inspect"]?.contains("traced without being stopped") == true)
    #expect(answer.standing["record"] == "conditional" && answer.standing["snapshot"] == "conditional")
    #expect(answer.explanation["source-lines"] == "works: 1 file of the program has debug information")
    let process = try #require(answer.document["process"] as? [String: Any])
    #expect(process["hasSwift"] as? Bool == true && process["swift"] as? String == "6.2 or later")
    // A stop would make the waiting thread run again when the stop ends, and the kernel counts these switches.
    #expect(try Self.switches(program.processID) == before)
    #expect(program.states == ["TracerPid:\t0"] && program.children.isEmpty)
    // The answer was correct: an inspection works.
    #expect(try Command([BuildProducts.leaktrace, "inspect", String(program.processID)]).run().end == .exit(0))
    _ = try program.end(SIGKILL)
  }

  private static func switches(_ process: Int32) throws -> [String] {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let lines = status.split(separator: "\n").filter { $0.contains("ctxt_switches") }.map(String.init)
    try #require(lines.count == 2)
    return lines
  }

  @Test("Doctor reports running recordings, started or attached") func recordings() throws {
    let asked = Self.asked(["snapshot", "attach"]) + ["-o", "/tmp"]
    let recorded = try InspectionTests.Waiting(
      "inspected.swift", under: [BuildProducts.leaktrace, "record", "--quiet", "-o", "%DIRECTORY%/t.%n", "--"])
    let first = try Answer([BuildProducts.leaktrace], asked + [String(recorded.processID)])
    #expect(first.standing["snapshot"] == "works", "\(first.explanation)")
    #expect(first.fails("attach", "was started with the recorder", "leaktrace snapshot \(recorded.processID)"))
    #expect(first.status == 1)
    kill(recorded.processID, SIGKILL)
    _ = try recorded.running.wait()
    let joined = try InspectionTests.Waiting("inspected.swift")
    let attached = try Command([
      BuildProducts.leaktrace, "attach", String(joined.processID), "-o", joined.directory.path + "/t",
    ]).run()
    try #require(attached.end == .exit(0), "\(attached)")
    let second = try Answer([BuildProducts.leaktrace], asked + [String(joined.processID)])
    #expect(second.status == 0 && second.standing["snapshot"] == "works")
    #expect(second.explanation["attach"]?.contains("leaktrace detach \(joined.processID)") == true)
    _ = try joined.end(SIGKILL)
  }

  @Test(
    "Doctor reports another user's process and one that only root may read",
    .enabled(if: isRoot, "Only root becomes nobody."))
  func otherUsers() throws {
    let nobody = try Nobody()
    let asked = ["-o", nobody.directory.path]
    let program = try InspectionTests.Waiting("inspected.swift")
    let process = String(program.processID)
    let other = try Answer(nobody.command, asked + [process])
    #expect(other.status == 1)
    for feature in ["snapshot", "attach", "inspect", "watch", "field-names", "source-lines"] {
      #expect(other.fails(feature, "belongs to user 0, and this is user 65534", "sudo leaktrace "), "\(feature)")
    }
    #expect(other.remedy["inspect"] == "sudo leaktrace inspect \(process)")
    _ = try program.end(SIGKILL)

    let undumpable = try nobody.start(TestProgram("undumpable.c"))
    let refused = try Answer(nobody.command, asked + [String(undumpable.processID)])
    for feature in ["attach", "inspect", "core-files"] {
      #expect(refused.fails(feature, "only root", "sudo "), "\(refused.explanation)")
    }
    let asRoot = try Answer([BuildProducts.leaktrace], asked + [String(undumpable.processID)])
    #expect(asRoot.standing["attach"] == "works", "\(asRoot.explanation)")
    try Self.end(undumpable)
  }

  @Test("Doctor reports processes with system call filters", .enabled(if: isRoot, "Only root becomes nobody."))
  func filters()
    throws
  {
    let nobody = try Nobody()
    let asked = ["-o", nobody.directory.path] + Self.asked(["attach", "inspect", "watch"])
    let program = try InspectionTests.Waiting("filtered.c", ["container"])
    let answer = try Answer([BuildProducts.leaktrace], asked + [String(program.processID)])
    #expect(answer.standing["attach"] == "conditional", "\(answer.explanation)")
    _ = try program.end(SIGTERM)
    let strict = try InspectionTests.Waiting("filtered.c", ["strict"])
    let strictAnswer = try Answer([BuildProducts.leaktrace], asked + [String(strict.processID)])
    #expect(strictAnswer.fails("attach", "strict mode of seccomp") && strictAnswer.remedy["attach"] == nil)
    _ = try strict.end(SIGTERM)

    // A Swift program of the same user runs under a system call filter. It can be inspected with `--hold`.
    let swift = try nobody.start(
      TestProgram("visits.swift"), ["wait"], under: [TestProgram("confines.c")], options: ["swapon"])
    let process = String(swift.processID)
    let filtered = try Answer(nobody.command, asked + [process])
    #expect(filtered.fails("inspect", "limits its system calls (seccomp)", "leaktrace inspect --hold \(process)"))
    #expect(filtered.fails("watch", "limits its system calls", "sudo leaktrace watch"))
    #expect(filtered.fails("attach", "limits its system calls", "sudo leaktrace attach"))
    #expect(try Command(nobody.command + ["inspect", process]).run().end == .exit(3))
    let held = try Command(nobody.command + ["inspect", "--hold", process]).run()
    #expect(held.end == .exit(0) && held.output.contains("RETAIN CYCLE  Visit"), "\(held)")
    // If the inspector runs in the same container, the filter applies to it as well, even if it is root.
    let confines = nobody.directory.path + "/confines"
    let inside = try Answer([confines, "swapon", BuildProducts.leaktrace], asked + [process])
    #expect(inside.fails("inspect", "limits its system calls (seccomp)", "leaktrace inspect --hold"))
    #expect(inside.fails("attach", "limits its system calls (seccomp)"), "\(inside.explanation)")
    try Self.end(swift)
  }

  @Test("Doctor reports static programs and programs with another C library") func programs() throws {
    let asked = Self.asked(["record", "attach", "inspect"]) + ["-o", "/tmp"]
    let linkedStatically = try Self.waiting([TestProgram("undumpable.c", flags: ["-static"]).path()])
    let answer = try Answer([BuildProducts.leaktrace], asked + [String(linkedStatically.processID)])
    #expect(answer.fails("record", "is linked statically", "link it dynamically"), "\(answer.explanation)")
    #expect(answer.fails("attach", "is linked statically", "link it dynamically"))
    #expect(answer.fails("inspect", "has no Swift runtime") && answer.remedy["inspect"] == nil)
    try Self.end(linkedStatically)
  }

  @Test("Doctor reports a set-user-ID program", .enabled(if: isRoot, "Only root gives programs away."))
  func privileged()
    throws
  {
    let directory = try TemporaryDirectory()
    let copy = directory.path + "/undumpable"
    try FileManager.default.copyItem(atPath: TestProgram("undumpable.c").path(), toPath: copy)
    try #require(chown(copy, 65534, 65534) == 0 && chmod(copy, 0o4755) == 0)
    let running = try Self.waiting([copy])
    let answer = try Answer(
      [BuildProducts.leaktrace], Self.asked(["record"]) + ["-o", "/tmp", String(running.processID)])
    #expect(answer.fails("record", "is set-user-ID", "chmod ug-s"), "\(answer.explanation)")
    #expect((answer.document["remarks"] as? [String])?.first?.contains("started with more rights") == true)
    try Self.end(running)
  }

  @Test("Doctor reports musl", .requires(.program("musl-gcc"))) func musl() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/waits"
    let built = try Command([
      "musl-gcc", BuildProducts.packageRoot + "/Tests/Programs/undumpable.c", "-o", path,
    ]).run()
    try #require(built.end == .exit(0), "\(built.errorOutput)")
    let running = try Self.waiting([path])
    let asked = Self.asked(["record", "attach"]) + ["-o", "/tmp"]
    let answer = try Answer([BuildProducts.leaktrace], asked + [String(running.processID)])
    #expect(answer.fails("record", "ld-musl") && answer.fails("attach", "another C library than glibc"))
    try Self.end(running)
  }

  @Test(
    "Doctor names the outer process ID for one from inside a PID namespace",
    .enabled(if: isRoot, "Only root makes namespaces."))
  func namespace() throws {
    let program = try TestProgram("undumpable.c").path()
    // No process of this machine has this process ID.
    let number = "99997"
    let script = "echo \(Int(number)! - 1) >/proc/sys/kernel/ns_last_pid; \"$0\" & wait"
    let running = try Command([
      "unshare", "--pid", "--mount", "--mount-proc", "--fork", "--kill-child", "/bin/sh", "-c", script, program,
    ]).start()
    let process: Int32 = try AwaitedState.value("the program waits") {
      guard let shell = ProcessState(processID: running.processID).child,
        let child = ProcessState(processID: shell).child, ProcessState(processID: child).waits(in: [SystemCall.pause])
      else { return nil }
      return child
    }
    let asked = Self.asked(["attach"]) + ["-o", "/tmp"]
    let answer = try Answer([BuildProducts.leaktrace], asked + [String(process)])
    #expect(answer.standing["attach"] == "works", "\(answer.explanation)")
    let facts = try #require(answer.document["process"] as? [String: Any])
    #expect(facts["ownNumber"] as? Int == Int(number), "\(facts)")
    let other = try Command([BuildProducts.leaktrace, "doctor", number]).run()
    #expect(other.end == .exit(3))
    #expect(other.errorOutput.contains("\(number) is the process \(process) of this machine"), "\(other.errorOutput)")
    running.send(SIGKILL)
    _ = try running.wait()
  }

  @Test(
    "Doctor reports a noexec or read-only /tmp in the process's mount namespace",
    .enabled(if: isRoot, "Only root mounts."))
  func temporaryDirectories() throws {
    for (options, words, remedy) in [
      ("noexec,mode=1777", "/tmp of the process is mounted with noexec", "mount -o remount,exec /tmp"),
      (
        "ro", "no file can be written to /tmp of the process: Read-only file system",
        "a /tmp that its user may write to"
      ),
    ] {
      let running = try Self.waiting([
        "unshare", "--mount", "/bin/sh", "-c", "mount -t tmpfs -o \(options) tmpfs /tmp && exec sleep 1000",
      ])
      let answer = try Answer(
        [BuildProducts.leaktrace], Self.asked(["attach"]) + [String(running.processID)])
      #expect(answer.fails("attach", words, remedy), "\(answer.explanation)")
      // `attach` indeed fails.
      let attached = try Command([BuildProducts.leaktrace, "attach", String(running.processID)]).run()
      #expect(attached.end == .exit(1), "\(attached)")
      try Self.end(running)
    }
  }

  @Test("Doctor reports a /proc that hides processes", .enabled(if: isRoot, "Only root mounts.")) func hidden() throws {
    let nobody = try Nobody()
    let running = try Command(["sleep", "1000"]).start()
    let script = "mount -t proc -o hidepid=2 proc /proc && exec \"$0\" \"$@\""
    let answer = try Answer(
      ["unshare", "--mount", "/bin/sh", "-c", script] + nobody.command,
      Self.asked(["inspect", "core-files"]) + [String(running.processID)])
    #expect(answer.fails("inspect", "/proc hides it (hidepid)", "sudo leaktrace inspect"), "\(answer.explanation)")
    #expect(answer.fails("core-files", "hidepid"))
    running.send(SIGKILL)
    _ = try running.wait()
  }

  @Test("Doctor reports stopped, traced and ended processes", .requires(.program("strace"))) func states() throws {
    let asked = Self.asked(["attach", "record"]) + ["-o", "/tmp"]
    let running = try Self.waiting(["sleep", "1000"])
    let process = String(running.processID)
    running.send(SIGSTOP)
    try AwaitedState.wait(until: "it is stopped") {
      try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8).contains("State:\tT")
    }
    let stopped = try Answer([BuildProducts.leaktrace], asked + [process])
    #expect(stopped.fails("attach", "is stopped by a signal", "kill -CONT \(process)"))
    #expect(try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8).contains("State:\tT"))
    running.send(SIGCONT)
    let tracer = try Command(["strace", "-o", "/dev/null", "-p", process]).start()
    try AwaitedState.wait(until: "strace has it") { ProcessState(processID: running.processID).isTraced }
    let traced = try Answer([BuildProducts.leaktrace], asked + [process])
    #expect(traced.fails("attach", "is traced by process \(tracer.processID)", "end process \(tracer.processID)"))
    #expect(traced.standing["record"] == "conditional")
    tracer.send(SIGKILL)
    running.send(SIGKILL)
    _ = try (tracer.wait(), running.wait())
    let gone = try Command([BuildProducts.leaktrace, "doctor", "999999999"]).run()
    #expect(gone.end == .exit(3) && gone.errorOutput.contains("there is no process 999999999"))
    let wrong = try Command([BuildProducts.leaktrace, "doctor", "--feature", "none"]).run()
    #expect(wrong.end == .exit(64))
  }
}
