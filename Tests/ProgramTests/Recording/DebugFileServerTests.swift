// Debug files from a debuginfod server on this machine.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder), .requires(.program("python3"))) struct DebugFileServerTests {
  /// A debuginfod server for the files in a folder. The server ends with this object.
  private final class Server {
    let address: String
    let directory = Result { try TemporaryDirectory() }
    private let process: RunningCommand
    private let log: String

    init(buildID: String, program: String) throws {
      let directory = try directory.get().path
      let folder = "\(directory)/files/buildid/\(buildID)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      for name in ["executable", "debuginfo"] {
        try FileManager.default.copyItem(atPath: program, toPath: "\(folder)/\(name)")
      }
      log = directory + "/log"
      let words = [
        "python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", directory + "/files",
      ]
      var command = Command(["/bin/sh", "-c", "exec \"$@\" >\"$0\" 2>&1", log] + words)
      command.timeLimit = 600
      process = try command.start()
      let path = log
      let port = try AwaitedState.value("the server says its port") {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.firstMatch(of: /port (\d+)/).map { String($0.1) }
      }
      address = "http://127.0.0.1:\(port)/"
    }

    deinit { process.send(SIGKILL) }

    /// The number of requests so far.
    var requests: Int {
      get throws {
        try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").filter { $0.contains("GET /") }.count
      }
    }
  }

  @Test("Names of a deleted program come from a server only if DEBUGINFOD_URLS names it")
  func fetched() throws {
    let directory = try TemporaryDirectory()
    let program = directory.path + "/feed-client"
    let trace = directory.path + "/feed.trace"
    let source = TestProgram(
      named: "feed-client", sources: ["feed-client/shared", "feed-client/leaky"], flags: ["-swift-version", "5"])
    try FileManager.default.copyItem(atPath: source.path(), toPath: program)
    let recording = try Command([
      BuildProducts.leaktrace, "record", "--quiet", "--no-names", "-o", trace, "--", program, "10",
    ]).run()
    try #require(recording.end == .exit(0))
    let notes = try Command(["readelf", "-n", program]).run().output
    let buildID = try #require(notes.firstMatch(of: /Build ID: ([0-9a-f]+)/).map { String($0.1) })
    let server = try Server(buildID: buildID, program: program)
    try FileManager.default.removeItem(atPath: program)

    var command = Command([BuildProducts.leaktrace, "analyze", trace])
    command.environment["DEBUGINFOD_CACHE_PATH"] = directory.path + "/cache"
    command.environment["DEBUGINFOD_URLS"] = nil
    #expect(try !command.run().output.contains("TimelineViewModel.swift:17"))
    #expect(try server.requests == 0)
    command.environment["DEBUGINFOD_URLS"] = server.address
    #expect(try command.run().output.contains("TimelineViewModel.swift:17"))
    #expect(try server.requests > 0)
  }
}
