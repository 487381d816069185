// A Python server under load. Its extension module loads its own Swift runtime by dlopen.

import Foundation
import TestRequirements
import Testing
import TraceReading

@Suite(.serialized, .requires(.recorder)) struct PythonServerTests {
  private static let requests = 150
  /// The time after which the supervisor kills a worker that has not ended. On a busy machine, a worker takes long to
  /// write its image.
  private static let gracefulMilliseconds = 1_800_000

  /// Returns whether a finding is a known leak. CPython does not free all its memory: LeakSanitizer reports leaks of
  /// `python3 -c pass`, too. The functions that allocate deque blocks and dictionary keys do not have CPython's prefix.
  /// The server never deallocates its command line and its worker's state.
  private static func isLeftBehind(_ finding: ReportedFinding, _ function: String) -> Bool {
    finding.verdict == "lost"
      && (["_Py", "Py", "new_keys_object", "newblock"].contains { function.hasPrefix($0) }
        || function.contains("makeWorker") || function.contains("nativeServe"))
  }

  @Test("The Swift side of a Python server is recorded completely, without false findings") func underLoad() throws {
    let directory = try TemporaryDirectory()
    let programs = BuildProducts.packageRoot + "/Tests/Programs"
    let port = try Self.freePort()
    var server = Command([
      BuildProducts.leaktrace, "record", "--quiet", "--follow-children", "-o", directory.path + "/%p.trace", "--",
      try PythonServer.interpreter(), "-m", "peregrine",
      "--port", String(port), "--graceful-timeout", String(Self.gracefulMilliseconds),
      "python-server-application:application",
    ])
    server.environment["PYTHONPATH"] = try PythonServer.directory() + ":" + programs
    server.environment["PYTHONDONTWRITEBYTECODE"] = "1"
    let running = try server.start()
    let load = Command(["python3", programs + "/python-server-load.py", String(port), String(Self.requests)])
    let answered = try load.run()
    // The recorder passes the signal on to the program.
    running.send(SIGTERM)
    let end = try running.wait()
    try #require(answered.end == .exit(0), "\(answered.output)\(answered.errorOutput)\(end.errorOutput)")
    #expect(end.end == .exit(0), "\(end.errorOutput)")

    let traces = try directory.fileNames().filter { $0.hasSuffix(".trace") }.map { directory.path + "/" + $0 }
    #expect(traces.count >= 2, "a supervisor and a worker")
    for trace in traces {
      let findings = try #require(try ScopeRun.analyze(trace).findings)
      for finding in findings {
        let function = finding.path.first?.function ?? ""
        #expect(Self.isLeftBehind(finding, function), "\(finding)")
      }
    }
    let readers = try traces.map { try TraceReader(path: $0) }
    #expect(readers.allSatisfy { $0.definitions.process.hasSwiftHooks && !$0.definitions.process.hasStaticRuntime })
    let contents = try traces.map { try TraceContents($0) }
    let worker = try #require(contents.max { $0.count("swift_retain") < $1.count("swift_retain") })
    #expect(worker.count("swift_retain") > 4 * Self.requests && worker.count("swift_release") > 4 * Self.requests)
    #expect(contents.contains { $0.count("swift_allocObject") > 0 })
    #expect(
      readers.contains { $0.definitions.types.values.contains { $0.name.contains("<PeregrineServer.") } },
      "types of the server's by name")
  }

  /// Returns a port without a listener at the moment.
  private static func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard isBound else { throw CommandFailure("bind: \(String(cString: strerror(errno)))") }
    return UInt16(bigEndian: address.sin_port)
  }
}
