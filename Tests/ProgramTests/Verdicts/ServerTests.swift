// Servers under load with a leak for every so many requests or connections, and the same servers without the leak.

import Foundation
import TestRequirements
import Testing

@Suite(.secondTier, .serialized, .requires(.recorder)) struct ServerTests {
  struct Server: Decodable, Sendable, CustomTestStringConvertible {
    var name: String
    /// The kind of requests that the load generator sends.
    var load: String
    var requests: Int
    var connections: Int
    var leak: [ScopeCase.Finding]
    var clean: [ScopeCase.Finding]
    var testDescription: String { name }

    static func all() throws -> [Server] {
      try JSONDecoder().decode([Server].self, from: Data(contentsOf: URL(fileURLWithPath: CorpusPackage.servers)))
    }
  }

  @Test(
    "Objects that a server keeps of its requests are reported, and a correct server has no finding",
    arguments: try Server.all(),
    [CorpusRun.Mode.leak, .clean])
  func verdicts(server: Server, mode: CorpusRun.Mode) throws {
    let report = try run(server, mode)
    let reported = report.findings
    let findings = try #require(reported)
    let expected = mode == .leak ? server.leak : server.clean
    #expect(ScopeTests.agrees(findings, expected), "expected \(expected), found \(findings.map(ScopeTests.text))")
  }

  private func run(_ server: Server, _ mode: CorpusRun.Mode) throws -> VerdictReport {
    let products = try Self.products.get()
    let directory = try TemporaryDirectory()
    let output = directory.path + "/printed"
    let trace = directory.path + "/server.trace"
    // The shell replaces itself by `leaktrace record`, which does not report the server's process ID.
    var command = Command([
      BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", "\(products)/\(server.name)", mode.rawValue,
    ])
    command.arguments = ["/bin/sh", "-c", "exec \"$@\" >\"$0\"", output] + command.arguments
    let running = try command.start()
    let port = try Self.port(output)
    let sockets = Self.sockets(below: running.processID)
    let load = Command(["\(products)/load", port, String(server.requests), String(server.connections), server.load])
    let answered = try load.run()
    // The server notices the end of a connection a little later than the client.
    try AwaitedState.wait(until: "the server has closed its connections") {
      Self.sockets(below: running.processID) <= sockets
    }
    // The recorder passes the signal on to the program.
    running.send(SIGTERM)
    let end = try running.wait()
    try #require(answered.end == .exit(0), "\(answered.output)\(answered.errorOutput)")
    try #require(end.end == .exit(0), "\(end.errorOutput)")
    return try ScopeRun.analyze(trace)
  }

  /// Returns the number of sockets that the child processes of a process have open.
  private static func sockets(below process: pid_t) -> Int {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
    let children = threads.compactMap {
      try? String(contentsOfFile: "/proc/\(process)/task/\($0)/children", encoding: .utf8)
    }.joined(separator: " ")
    return children.split(separator: " ").reduce(0) { count, child in
      let folder = "/proc/\(child)/fd"
      let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return count
        + files.count {
          (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)"))?.hasPrefix("socket:") ?? false
        }
    }
  }

  private static func port(_ output: String) throws -> String {
    try AwaitedState.value("the server says its port") {
      let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
      guard text.hasPrefix("port "), let end = text.firstIndex(of: "\n") else { return nil }
      return String(text[text.index(text.startIndex, offsetBy: 5)..<end])
    }
  }

  private static let products = Result { try CorpusPackage.products() }
}
