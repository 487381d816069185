// Processes in containers: they see other files and other process IDs than the inspector.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.command), .enabled(if: geteuid() == 0, "Only root makes namespaces."))
struct ContainerTests {
  private static let program = TestProgram("contained.swift", flags: ["-Onone"])

  /// A program that runs as process 1 with its own root directory, PID namespace and mount namespace.
  private final class Container {
    let directory: TemporaryDirectory
    let running: RunningCommand
    /// The process ID in the namespace of the tests.
    let processID: Int32
    var root: String { directory.path + "/root" }

    /// - Parameter runtime: A directory with another Swift runtime to use.
    init(_ program: String, runtime: String? = nil) throws {
      directory = try TemporaryDirectory()
      let root = directory.path + "/root"
      var listing = Command(["ldd", program])
      if let runtime { listing.environment["LD_LIBRARY_PATH"] = runtime }
      let files = try listing.run().output.split(separator: "\n").compactMap { line -> String? in
        line.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("/") }.map(String.init)
      }
      try #require(files.contains { $0.contains("libswiftCore") } && files.contains { $0.contains("libc.so") })
      for file in files + [program] {
        // The other runtime is copied to the path of the toolchain's runtime.
        var inside = file == program ? "/srv/contained" : file
        if let runtime, file.hasPrefix(runtime) {
          inside =
            BuildProducts.parent(of: BuildProducts.toolchain) + "/lib/swift/linux/"
            + URL(fileURLWithPath: file).lastPathComponent
        }
        let place = root + inside
        try FileManager.default.createDirectory(
          atPath: BuildProducts.parent(of: place), withIntermediateDirectories: true)
        // `-L` copies the files that symbolic links point to.
        let copied = try Command(["cp", "-L", file, place]).run()
        try #require(copied.end == .exit(0), "\(copied.errorOutput)")
      }
      let printed = directory.path + "/printed"
      let library = BuildProducts.parent(of: BuildProducts.toolchain) + "/lib/swift/linux"
      var command = Command([
        "unshare", "--pid", "--mount", "--fork", "--kill-child", "/bin/sh", "-c",
        "exec chroot \"$0\" /srv/contained >\"$1\"",
        root, printed,
      ])
      command.environment["LD_LIBRARY_PATH"] = library
      running = try command.start()
      let outer = running.processID
      processID = try AwaitedState.value("the program is ready") {
        guard (try? String(contentsOfFile: printed, encoding: .utf8)) == "ready 1\n" else { return nil }
        let children = try? String(contentsOfFile: "/proc/\(outer)/task/\(outer)/children", encoding: .utf8)
        return children?.split(separator: " ").first.flatMap { Int32($0) }
      }
    }

    func end() throws {
      kill(processID, SIGKILL)
      _ = try running.wait()
    }
  }

  @Test("Owners of locks have the numbers that a container's threads see")
  func deadlock() throws {
    let container = try Container(try TestProgram("bank-transfers.swift").path())
    let outcome = try Command([BuildProducts.leaktrace, "tasks", "\(container.processID)"]).run()
    #expect(outcome.output.contains("DEADLOCK  2 threads wait for one another"), "\(outcome)")
    try container.end()
  }

  private static func text(_ target: String, _ options: [String] = []) throws -> (output: String, errors: String) {
    let outcome = try Command([BuildProducts.leaktrace, "inspect", target, "--width", "200"] + options).run()
    try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    return (outcome.output, outcome.errorOutput)
  }

  private static func check(_ output: String) {
    #expect(output.contains("RETAIN CYCLE") && output.contains("20 instances"), "\(output)")
    #expect(output.contains(".next"), "fields have names: \(output)")
    #expect(output.contains("standInContainer()  contained.swift:"), "functions have names: \(output)")
    #expect(output.contains("in its container)"), "\(output)")
    #expect(!output.contains("was not found") && !output.contains("is not the file that ran"), "\(output)")
  }

  @Test("Files are found through the process's root, and both namespaces' process IDs are shown") func chroot() throws {
    let container = try Container(try Self.program.path())
    let found = try Self.text(String(container.processID))
    Self.check(found.output)
    #expect(found.output.contains("/srv/contained (pid \(container.processID))"))
    // The inspection still works if the program's file was deleted.
    try FileManager.default.removeItem(atPath: container.root + "/srv/contained")
    let deleted = try Self.text(String(container.processID))
    Self.check(deleted.output)
    #expect(deleted.output.contains("/srv/contained (pid"))
    // The result is the same if other files are at the paths of the program's files.
    let kept = container.directory.path + "/kept"
    _ = try Self.text(String(container.processID), ["-o", kept])
    try container.end()
    // On another machine, a trace is read with the files below a folder.
    let whole = try Self.program.path()
    _ = try Command(["cp", whole, container.root + "/srv/contained"]).run()
    let later = try Command([
      BuildProducts.leaktrace, "analyze", kept, "--sysroot", container.root, "--width", "200",
    ]).run()
    #expect(later.end == .exit(0), "\(later.errorOutput)")
    Self.check(later.output)
  }

  @Test("A recording in a process with another root is found by its live file", .requires(.recorder)) func attached()
    throws
  {
    let container = try Container(try Self.program.path())
    try FileManager.default.createDirectory(atPath: container.root + "/tmp", withIntermediateDirectories: true)
    let process = String(container.processID)
    // The recorder reads /proc to take an image. At first /proc is not mounted in the container.
    try FileManager.default.createDirectory(atPath: container.root + "/proc", withIntermediateDirectories: true)
    let doctor = [BuildProducts.leaktrace, "doctor", "--feature", "attach", "--width", "200", process]
    #expect(try Command(doctor).run().output.contains("works without heap images"))
    let mounted = try Command([
      "nsenter", "-t", process, "--mount", "--pid", "mount", "-t", "proc", "proc", container.root + "/proc",
    ]).run()
    try #require(mounted.end == .exit(0), "\(mounted.errorOutput)")
    #expect(try Command(doctor).run().output.contains("attach        works: "))
    for arguments in [["attach", process, "-o", "/tmp/t"], ["snapshot", process], ["detach", process]] {
      let outcome = try Command([BuildProducts.leaktrace] + arguments).run()
      #expect(outcome.end == .exit(0), "\(arguments): \(outcome)")
      guard arguments[0] == "snapshot" else { continue }
      let listed = try Command([BuildProducts.leaktrace, "ps", "--width", "300"]).run().output
      #expect(listed.split(separator: "\n").contains { $0.contains(process) && $0.contains("/tmp/t") }, "\(listed)")
    }
    try container.end()
    let analyzed = try Command([
      BuildProducts.leaktrace, "analyze", container.root + "/tmp/t", "--sysroot", container.root, "--width", "200",
    ]).run()
    #expect(analyzed.end == .exit(0) && analyzed.output.contains("RETAIN CYCLE"), "\(analyzed)")
  }

  @Test("A process with another Swift runtime is inspected") func otherRuntime() throws {
    let runtime = try PythonServer.runtime()
    let container = try Container(try Self.program.path(), runtime: runtime)
    let found = try Self.text(String(container.processID))
    Self.check(found.output)
    try container.end()
  }
}
