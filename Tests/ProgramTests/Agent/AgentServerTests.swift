// `leaktrace mcp`: a whole session over pipes, and clients that misbehave.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct AgentServerTests {
  /// A running server, and the messages that it has sent.
  private final class Server {
    let directory: TemporaryDirectory
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var lastID = 0
    private var rest = Data()

    init(_ options: [String] = []) throws {
      directory = try TemporaryDirectory()
      process.executableURL = URL(fileURLWithPath: BuildProducts.leaktrace)
      process.arguments = ["mcp"] + options
      process.environment = Command.cleanEnvironment
      process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
      (process.standardInput, process.standardOutput, process.standardError) = (input, output, FileHandle.nullDevice)
      try process.run()
    }

    func write(_ text: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((text + "\n").utf8)) }

    /// Returns the next message; nil at the end of the output.
    func message() throws -> [String: Any]? {
      while true {
        if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          let line = rest[..<end]
          rest = Data(rest[(end + 1)...])
          return try JSONSerialization.jsonObject(with: line) as? [String: Any]
        }
        let more = output.fileHandleForReading.availableData
        if more.isEmpty { return nil }
        rest += more
      }
    }

    func request(_ method: String, _ parameters: [String: Any] = [:]) throws -> [String: Any] {
      lastID += 1
      try send(["jsonrpc": "2.0", "id": lastID, "method": method, "params": parameters])
      let response = try #require(try message())
      #expect(response["id"] as? Int == lastID)
      return response
    }

    func send(_ message: [String: Any]) throws {
      try write(String(decoding: JSONSerialization.data(withJSONObject: message), as: UTF8.self))
    }

    func start(_ revision: String = "2025-06-18") throws {
      let response = try request("initialize", ["protocolVersion": revision, "capabilities": [String: Any]()])
      #expect((response["result"] as? [String: Any])?["protocolVersion"] as? String == revision)
      try send(["jsonrpc": "2.0", "method": "notifications/initialized"])
    }

    /// Calls a tool, and returns its answer.
    func call(_ tool: String, _ arguments: [String: Any]) throws -> (answer: [String: Any], isError: Bool) {
      let response = try request("tools/call", ["name": tool, "arguments": arguments])
      let result = try #require(response["result"] as? [String: Any], "\(response)")
      let text = try #require((result["content"] as? [[String: Any]])?.first?["text"] as? String)
      #expect(text.utf8.count <= arguments["max_bytes"] as? Int ?? 4096)
      let answer = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
      return (answer ?? ["text": text], try #require(result["isError"] as? Bool))
    }

    /// Starts to record a program that does not end. Returns its process ID when it runs.
    func startEndlessProgram(id: String = "long") throws -> Int32 {
      let file = directory.path + "/started"
      try send([
        "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": [
          "name": "record",
          "arguments": ["command": ["sh", "-c", "echo $$ > started; exec sleep 600"], "seconds": 600],
        ],
      ])
      return try AwaitedState.value("the program has started") {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8), text.hasSuffix("\n") else { return nil }
        return Int32(text.dropLast())
      }
    }

    func terminate() { process.terminate() }

    /// Closes the input, and returns the exit status.
    func end() throws -> Int32 {
      try input.fileHandleForWriting.close()
      #expect(try message() == nil)
      process.waitUntilExit()
      return process.terminationStatus
    }
  }

  @Test func sessionLeadsFromARecordingToAVerifiedFix() throws {
    let program = try TestProgram("fixed-shop.swift").path()
    let server = try Server(["--allow-record", "--allow-inspect"])
    try server.start()
    let tools = try #require(
      (server.request("tools/list")["result"] as? [String: Any])?["tools"] as? [[String: Any]])
    #expect(tools.count == 7)

    let recorded = try server.call("record", ["command": [program, "20", "20", "download"]])
    let old = try #require(recorded.answer["trace"] as? String)
    #expect(!recorded.isError && recorded.answer["end"] as? String == "exited with status 0")
    // The answer names the next call.
    let next = try #require((recorded.answer["next"] as? [[String: Any]])?.first)
    let listed = try server.call(
      try #require(next["tool"] as? String), try #require(next["arguments"] as? [String: Any])
    ).answer
    let findings = try #require(listed["findings"] as? [[String: Any]])
    #expect(listed["conclusion"] as? String == "leak" && findings.count == 2 && listed["cursor"] == nil)
    let fingerprint = try #require(findings.first { $0["title"] as? String == "Screen ↺" }?["fingerprint"] as? String)

    let finding = try server.call("finding", ["trace": old, "fingerprint": fingerprint]).answer
    #expect(finding["fingerprint"] as? String == fingerprint && finding["instances"] as? Int == 20)
    #expect((finding["advice"] as? [String])?.first?.contains("Capture") == true)
    let holders = try server.call("why", ["trace": old, "object": "Screen"])
    #expect(!holders.isError && holders.answer["objects"] as? Int == 20, "\(holders)")

    let tasks = try server.call("tasks", ["trace": old])
    #expect(!tasks.isError && (tasks.answer["summary"] as? String)?.contains("task") == true, "\(tasks)")

    let fixed = try server.call("record", ["command": [program, "20", "0"], "trace": "fixed.trace"]).answer
    #expect(fixed["trace"] as? String == "fixed.trace")
    let verified = try server.call(
      "verify", ["old": old, "new": ["fixed.trace"], "fingerprints": [fingerprint]]
    ).answer
    let answers = try #require(verified["answers"] as? [[String: Any]])
    #expect(verified["conclusion"] as? String == "fixed" && answers.map { $0["answer"] as? String } == ["gone"])
    let all = try server.call("verify", ["old": old, "new": ["fixed.trace"]]).answer
    #expect(all["conclusion"] as? String == "notProven")
    #expect(try server.end() == 0)
  }

  @Test func mistakesAreAnsweredAndTheSessionGoesOn() throws {
    let server = try Server()
    try server.start("2024-11-05")
    try server.write("{nonsense")
    #expect((try server.message()?["error"] as? [String: Any])?["code"] as? Int == -32700)
    try server.write(String(repeating: "x", count: 3 << 20))
    #expect((try server.message()?["error"] as? [String: Any])?["code"] as? Int == -32600)
    let unknown = try server.request("resources/list")
    #expect((unknown["error"] as? [String: Any])?["code"] as? Int == -32601)
    let missing = try server.call("findings", ["trace": "missing.trace"])
    #expect(missing.isError && (missing.answer["error"] as? String)?.contains("missing.trace") == true)
    let option = try server.call("findings", ["trace": "--help"])
    #expect(option.isError && option.answer["kind"] as? String == "failure")
    for (tool, arguments) in [("record", ["command": ["touch", "ran"]]), ("inspect", ["pid": getpid()])]
      as [(String, [String: Any])]
    {
      let refused = try server.call(tool, arguments)
      #expect(refused.isError && (refused.answer["text"] as? String)?.contains("--allow-\(tool)") == true)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: server.directory.path).isEmpty)
    #expect(try server.end() == 0)
  }

  @Test func recordedProgramIsStoppedWhenItsTimeIsOver() throws {
    let server = try Server(["--allow-record"])
    try server.start()
    let recorded = try server.call("record", ["command": ["sleep", "600"], "seconds": 1])
    #expect((recorded.answer["end"] as? String)?.contains("time was over") == true, "\(recorded)")
    let failed = try server.call("record", ["command": ["/nonexistent/program"]])
    #expect(failed.isError && failed.answer["kind"] as? String == "failure")
    #expect(try server.end() == 0)
  }

  @Test func cancelledCallIsStoppedAndGetsNoResponse() throws {
    let server = try Server(["--allow-record"])
    try server.start()
    let program = try server.startEndlessProgram()
    // A ping is answered while the call runs.
    #expect((try server.request("ping")["result"] as? [String: Any])?.isEmpty == true)
    try server.send(["jsonrpc": "2.0", "method": "notifications/cancelled", "params": ["requestId": "long"]])
    #expect((try server.request("ping")["result"] as? [String: Any])?.isEmpty == true)
    try AwaitedState.wait(until: "the program has ended") { kill(program, 0) != 0 }
    #expect(try server.end() == 0)
  }

  @Test func inputThatEndsDuringACallEndsTheServerAndTheProgram() throws {
    let server = try Server(["--allow-record"])
    try server.start()
    let program = try server.startEndlessProgram()
    #expect(try server.end() == 0)
    try AwaitedState.wait(until: "the program has ended") { kill(program, 0) != 0 }
  }

  @Test func signalEndsTheServerAndTheProgram() throws {
    let server = try Server(["--allow-record"])
    try server.start()
    let program = try server.startEndlessProgram()
    server.terminate()
    #expect(try server.message() == nil)
    try AwaitedState.wait(until: "the program has ended") { kill(program, 0) != 0 }
  }

  @Test func briefFormatGivesTheSameAnswersOnTheCommandLine() throws {
    let program = try TestProgram("fixed-shop.swift").path()
    let directory = try TemporaryDirectory()
    func run(_ arguments: [String]) throws -> Command.Outcome {
      var command = Command([BuildProducts.leaktrace] + arguments)
      command.directory = directory.path
      return try command.run()
    }
    #expect(try run(["record", "--quiet", "-o", "a.trace", "--", program, "20", "20"]).end == .exit(0))
    let list = try run(["analyze", "--format", "brief-json", "--brief-size", "1024", "a.trace"])
    #expect(list.end == .exit(0) && list.output.utf8.count <= 1025 && list.output.hasSuffix("}\n"))
    let wrong = try run(["analyze", "--format", "brief-json", "--brief-finding", "zz", "a.trace"])
    #expect(wrong.output.contains("\"kind\":\"failure\""))
    #expect(try run(["analyze", "--format", "brief-json", "--brief-size", "5", "a.trace"]).end == .exit(64))
    #expect(
      try run(["verify", "--format", "brief-json", "a.trace", "a.trace"]).output.contains("\"kind\":\"verification\""))
    #expect(try run(["why", "--format", "brief-json", "a.trace", "Screen"]).output.contains("\"kind\":\"holders\""))
    let tasks = try run(["tasks", "--format", "brief-json", "--brief-size", "1024", "a.trace"])
    #expect(tasks.output.contains("\"kind\":\"tasks\"") && tasks.output.utf8.count <= 1025)
  }
}
