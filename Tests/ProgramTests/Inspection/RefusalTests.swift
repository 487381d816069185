// Processes and files that cannot be inspected or attached to: the command prints one clear line, and exits with the
// documented status.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct RefusalTests {
  /// Expects one line that contains `words`, and the exit status for a process that cannot be inspected.
  private static func expectRefusal(_ target: String, _ words: String, under user: [String] = []) throws {
    try expectLine(user + [BuildProducts.leaktrace, "inspect", target], 3, words)
  }

  /// Expects that `attach` refuses the process, and leaves no file.
  private static func expectNoJoining(_ process: Int32, _ words: String) throws {
    let directory = try TemporaryDirectory()
    try expectLine(
      [BuildProducts.leaktrace, "attach", String(process), "--wait", "5", "-o", directory.path + "/t"], 1, words)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
  }

  private static func expectLine(_ command: [String], _ status: Int32, _ words: String) throws {
    let outcome = try Command(command).run()
    #expect(outcome.end == .exit(status) && outcome.output.isEmpty, "\(command)")
    #expect(
      outcome.errorOutput.contains(words) && outcome.errorOutput.filter { $0 == "\n" }.count == 1,
      "\(outcome.errorOutput)")
  }

  /// Starts a program, and returns once it has mapped `image` and waits.
  private static func waiting(
    _ command: [String], until image: String, in wanted: Substring = "S"
  ) throws -> RunningCommand {
    let running = try Command(command).start()
    try AwaitedState.wait(until: "\(command[0]) waits") {
      let maps = (try? String(contentsOfFile: "/proc/\(running.processID)/maps", encoding: .utf8)) ?? ""
      let now = state(running.processID)
      if now.isEmpty || now == "Z" { throw CommandFailure("\(command[0]) has ended by itself") }
      return maps.contains(image) && now == wanted
    }
    return running
  }

  private static func state(_ process: Int32) -> Substring {
    let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    return status.split(separator: "\n").first { $0.hasPrefix("State:\t") }?.dropFirst(7).prefix(1) ?? ""
  }

  private static func end(_ running: RunningCommand) throws {
    running.send(SIGKILL)
    _ = try running.wait()
  }

  @Test("A file that is not a core is refused") func files() throws {
    let directory = try TemporaryDirectory()
    try Data("no core".utf8).write(to: URL(fileURLWithPath: directory.path + "/text"))
    try Self.expectRefusal("999999999", "there is no process 999999999")
    try Self.expectNoJoining(999_999_999, "there is no process 999999999")
    try Self.expectRefusal(directory.path + "/text", "is not a core file")
    try Self.expectRefusal(directory.path, "is not a core file")
    try Self.expectRefusal("/bin/sh", "is not a core file")
    try Self.expectRefusal("/dev/null", "is not a core file")
    try Self.expectRefusal(directory.path + "/none", "cannot be read: No such file or directory")
  }

  @Test("Truncated cores and cores of another machine are refused", .requires(.debugger)) func cores() throws {
    let program = try InspectionTests.Waiting("inspected.swift")
    let core = program.directory.path + "/core"
    _ = try Command(["gdb", "-nx", "-batch", "-p", String(program.processID), "-ex", "gcore \(core)"]).run()
    _ = try program.end(SIGKILL)
    let handle = try #require(FileHandle(forUpdatingAtPath: core))
    // e_machine of the ELF header is at this offset.
    try handle.seek(toOffset: 18)
    let own = try #require(try handle.read(upToCount: 2))
    try handle.seek(toOffset: 18)
    handle.write(Data([243, 0]))
    try Self.expectRefusal(core, "is a core file of another machine (ELF number 243)")
    try handle.seek(toOffset: 18)
    handle.write(own)
    try handle.truncate(atOffset: 1 << 16)
    try Self.expectRefusal(core, "is cut short")
    try handle.truncate(atOffset: 40)
    try Self.expectRefusal(core, "is not a core file")
  }

  @Test("A program without Swift is refused") func otherLanguages() throws {
    let linkedStatically = try TestProgram("waiting.c", flags: ["-static"]).path()
    for (command, image) in [(["sleep", "1000"], "libc.so"), ([linkedStatically, "/dev/null"], "waiting")] {
      let running = try Self.waiting(command, until: image)
      try Self.expectRefusal(String(running.processID), "no Swift object is in the memory")
      if command[0] == linkedStatically { try Self.expectNoJoining(running.processID, "is linked statically") }
      try Self.end(running)
    }
  }

  @Test("A Python program is refused") func python() throws {
    let script = "import sys, time; print('it runs', file=sys.stderr, flush=True); time.sleep(3600)"
    let running = try Command(["python3", "-c", script]).start()
    // `python3` may be a shell script that looks for an interpreter and replaces itself by it. So the process may run
    // one program after another.
    try running.waitForErrorOutput(containing: "it runs")
    try Self.expectRefusal(String(running.processID), "no Swift object is in the memory")
    try Self.end(running)
  }

  /// The program waits for longer than `inspect` waits in one attempt for a first thread to stop.
  @Test("A program whose only thread blocks signals is copied when the thread resumes", .secondTier)
  func unreachableThread()
    throws
  {
    let program = try TestProgram("waits-in-vfork.c").path()
    let running = try Self.waiting([program, "8"], until: "libc.so", in: "D")
    try Self.expectRefusal(String(running.processID), "no Swift object is in the memory")
    try Self.end(running)
  }

  @Test("A program with another C library is refused", .requires(.program("musl-gcc"))) func otherLibrary() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/waits-with-musl"
    let built = try Command([
      "musl-gcc", BuildProducts.packageRoot + "/Tests/Programs/waits-with-musl.c", "-o", path,
    ]).run()
    try #require(built.end == .exit(0), "\(built.errorOutput)")
    let running = try Self.waiting([path], until: "waits-with-musl")
    try Self.expectRefusal(String(running.processID), "nor Swift objects")
    try Self.expectNoJoining(running.processID, "uses another C library than glibc")
    try Self.end(running)
  }

  @Test("A Go program is refused", .requires(.program("go"))) func go() throws {
    let directory = try TemporaryDirectory()
    var build = Command([
      "go", "build", "-o", directory.path + "/waits", BuildProducts.packageRoot + "/Tests/Programs/waits.go",
    ])
    build.environment["GOCACHE"] = directory.path + "/cache"
    build.environment["GOFLAGS"] = "-mod=mod"
    let built = try build.run()
    try #require(built.end == .exit(0), "\(built.errorOutput)")
    let running = try Self.waiting([directory.path + "/waits"], until: "waits")
    try Self.expectRefusal(String(running.processID), "is a Go program, whose memory is not malloc's")
    try Self.expectNoJoining(running.processID, "is a Go program, whose memory is not malloc's")
    try Self.end(running)
  }

  @Test("A Java program is refused", .enabled(if: hasJava, "There is no java in PATH.")) func java() throws {
    let directory = try TemporaryDirectory()
    let source = "public class W { public static void main(String[] a) throws Exception { Thread.sleep(3600000); } }"
    try Data(source.utf8).write(to: URL(fileURLWithPath: directory.path + "/W.java"))
    let running = try Self.waiting(["java", directory.path + "/W.java"], until: "libjvm.so")
    try Self.expectRefusal(String(running.processID), "is a Java program, whose objects are not malloc's")
    try Self.expectNoJoining(running.processID, "is a Java program, whose objects are not malloc's")
    try Self.end(running)
  }

  private static let hasJava = (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":").contains {
    access("\($0)/java", X_OK) == 0
  }

  @Test("A 32-bit program is refused") func narrow() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/waits-32-bit"
    // The usual flags name libraries that exist only for 64 bits.
    let built = try Command([
      BuildProducts.toolchain + "/clang", "-m32", "-nostdlib", "-static",
      BuildProducts.packageRoot + "/Tests/Programs/waits-32-bit.c", "-o", path,
    ]).run()
    try #require(built.end == .exit(0), "\(built.errorOutput)")
    let running = try Self.waiting([path], until: "waits-32-bit")
    try Self.expectRefusal(String(running.processID), "is not a 64-bit x86 program")
    try Self.expectNoJoining(running.processID, "is not a 64-bit x86 program")
    try Self.end(running)
  }

  @Test("Ended and traced processes are refused", .requires(.program("strace"))) func ends() throws {
    let parent = try Command(["/bin/sh", "-c", "sleep 0 & exec sleep 1000"]).start()
    var child = ""
    try AwaitedState.wait(until: "the child has ended") {
      let path = "/proc/\(parent.processID)/task/\(parent.processID)/children"
      child =
        ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: " ").first.map(String.init) ?? ""
      return Int32(child).map { Self.state($0) == "Z" } ?? false
    }
    try Self.expectRefusal(child, "has ended, and its parent has not waited for it yet")
    try Self.expectNoJoining(try #require(Int32(child)), "has ended, and its parent has not waited for it yet")
    let tracer = try Command([
      "strace", "-f", "-o", "/dev/null", "-p", String(parent.processID),
    ]).start()
    try AwaitedState.wait(until: "strace has the process") {
      let status = (try? String(contentsOfFile: "/proc/\(parent.processID)/status", encoding: .utf8)) ?? ""
      return status.contains("TracerPid:\t\(tracer.processID)")
    }
    try Self.expectRefusal(String(parent.processID), "is being traced by process \(tracer.processID) already")
    try Self.expectNoJoining(parent.processID, "is being traced by process \(tracer.processID) already")
    try Self.end(tracer)
    try Self.end(parent)
  }

  @Test("A process whose first thread has ended is refused") func firstThread() throws {
    let program = try TestProgram("first-thread-ends.c", flags: ["-pthread"]).path()
    let running = try Command([program]).start()
    try AwaitedState.wait(until: "the first thread has ended") { Self.state(running.processID) == "Z" }
    try Self.expectRefusal(String(running.processID), "the first thread of process \(running.processID) has ended")
    try Self.expectNoJoining(running.processID, "the first thread of process \(running.processID) has ended")
    try Self.end(running)
  }

  @Test("A program whose loader still waits is not reported as static") func unloaded() throws {
    let loader = try TestProgram("waits-as-loader.c", flags: ["-static", "-nostdlib", "-nostartfiles"]).path()
    let directory = try TemporaryDirectory()
    let path = directory.path + "/waits"
    let built = try Command([
      BuildProducts.toolchain + "/clang", "-Wl,--dynamic-linker=\(loader)",
      BuildProducts.packageRoot + "/Tests/Programs/waiting.c", "-o", path,
    ]).run()
    try #require(built.end == .exit(0), "\(built.errorOutput)")
    let running = try Self.waiting([path], until: "waits-as-loader")
    let outcome = try Command([
      BuildProducts.leaktrace, "attach", String(running.processID), "--wait", "1", "-o", directory.path + "/t",
    ]).run()
    #expect(outcome.end == .exit(1) && outcome.errorOutput.contains("has not loaded the C library yet"), "\(outcome)")
    try Self.end(running)
  }

  @Test("A program that replaces itself is reported neither as static nor as forbidden")
  func becomesItself() throws {
    let program = try TestProgram("execs-itself.c").path()
    let directory = try TemporaryDirectory()
    // Each attempt hits another moment of a process's life. Each turn has a process of its own, so that no process
    // reaches its time limit on a busy machine.
    for turn in 0..<(TestTier.isWhole ? 40 : 10) {
      let running = try Command([program]).start()
      for command in [["inspect"], ["attach", "--wait", "5"]] {
        let target = [String(running.processID), "-o", "\(directory.path)/\(turn)"]
        let outcome = try Command([BuildProducts.leaktrace] + command + target).run()
        let lines = outcome.errorOutput.split(separator: "\n")
        if outcome.end != .exit(0) {
          // A program that has just started has no blocks yet.
          let isTrue = ["became another program", "the process has not called malloc"].contains {
            lines[0].contains($0)
          }
          #expect(lines.count == 1 && isTrue, "\(command): \(outcome)")
        }
      }
      try Self.end(running)
    }
  }

  @Test(
    "Another user's process and a kernel thread are refused", .enabled(if: geteuid() == 0, "Only root becomes nobody."))
  func others() throws {
    let running = try Self.waiting(["sleep", "1000"], until: "libc.so")
    let directory = try TemporaryDirectory()
    // The copy of the command cannot be executed by this user.
    let copy = directory.path + "/leaktrace"
    try FileManager.default.copyItem(atPath: BuildProducts.leaktrace, toPath: copy)
    chmod(directory.path, 0o755)
    for (command, status) in [("inspect", Int32(3)), ("attach", 1)] {
      let outcome = try Command([
        "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", copy, command, String(running.processID),
      ]).run()
      #expect(outcome.end == .exit(status) && outcome.errorOutput.filter { $0 == "\n" }.count == 1, "\(outcome)")
      #expect(outcome.errorOutput.contains("may not be traced"), "\(outcome.errorOutput)")
      #expect(outcome.errorOutput.contains("run leaktrace as that user or as root"), "\(outcome.errorOutput)")
    }
    try Self.end(running)
    // Process 2 is the parent of the kernel's threads. It does not exist in a container.
    if (try? String(contentsOfFile: "/proc/2/comm", encoding: .utf8)) == "kthreadd\n" {
      try Self.expectRefusal("2", "is a kernel thread")
      try Self.expectNoJoining(2, "is a kernel thread")
    }
  }

  @Test(
    "A fully static Swift program is inspected by the shape of its memory",
    arguments: [
      "-static-stdlib", "-static-executable",
    ])
  func staticPrograms(linking: String) throws {
    let program = try InspectionTests.Waiting(TestProgram("contained.swift", flags: ["-Onone", linking]))
    let outcome = try Command([BuildProducts.leaktrace, "inspect", String(program.processID)]).run()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    #expect(outcome.output.contains("RETAIN CYCLE") && outcome.output.contains("20 instances"), "\(outcome.output)")
    _ = try program.end(SIGKILL)
  }
}
