// The effects of each message, including messages that no client should send.

import Foundation
import TestRequirements
import Testing
import TextWriting
import TraceTestSupport

@testable import AgentProtocol

/// A session that records its effects.
private struct Client {
  var session: ProtocolSession
  private(set) var sent: [[String: Any]] = []
  private(set) var batches: [[[String: Any]]] = []
  private(set) var started: [ToolCall] = []
  private(set) var cancelled: [RequestID] = []

  init(_ allowed: Set<Tool.Permission> = [], revision: String? = "2025-06-18") {
    session = ProtocolSession(tools: ToolCatalog(allowed: allowed), toolVersion: "1.2.3")
    guard let revision else { return }
    send(#"{"jsonrpc":"2.0","id":"start","method":"initialize","params":{"protocolVersion":"\#(revision)"}}"#)
    send(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
    sent = []
  }

  mutating func send(_ text: String) { perform(session.receive(.bytes(Array(text.utf8)))) }

  mutating func call(_ tool: String, _ arguments: String, id: String = "7") {
    send(
      #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)}}"#)
  }

  mutating func perform(_ effects: [ProtocolSession.Effect]) {
    for effect in effects {
      switch effect {
      case .send(let text):
        #expect(!text.contains("\n"))
        let value = try? JSONSerialization.jsonObject(with: Data(text.utf8))
        if let object = value as? [String: Any] { sent.append(object) }
        if let array = value as? [[String: Any]] { batches.append(array) }
      case .start(let call): started.append(call)
      case .cancel(let id): cancelled.append(id)
      }
    }
  }

  var codes: [Int?] { sent.map { ($0["error"] as? [String: Any])?["code"] as? Int } }
  var errors: [String] { sent.compactMap { ($0["error"] as? [String: Any])?["message"] as? String } }
  var results: [[String: Any]] { sent.compactMap { $0["result"] as? [String: Any] } }
}

@Suite struct ProtocolSessionTests {
  @Test(arguments: ["2025-06-18", "2025-03-26", "2024-11-05"]) func supportedRevisionIsAccepted(revision: String) {
    var client = Client(revision: nil)
    client.send(#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"\#(revision)"}}"#)
    #expect(client.results.first?["protocolVersion"] as? String == revision)
    #expect((client.results.first?["capabilities"] as? [String: Any])?["tools"] != nil)
    #expect((client.results.first?["serverInfo"] as? [String: Any])?["version"] as? String == "1.2.3")
  }

  @Test(arguments: [#""1999-01-01""#, "5", "null", "[]"]) func otherRevisionGetsTheNewest(revision: String) {
    var client = Client(revision: nil)
    client.send(#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":\#(revision)}}"#)
    #expect(client.results.first?["protocolVersion"] as? String == "2025-06-18")
  }

  @Test func nothingButPingWorksBeforeInitialize() {
    var client = Client(revision: nil)
    client.send(#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
    client.call("findings", #"{"trace":"a"}"#)
    client.send(#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#)
    #expect(client.codes == [-32600, -32600, nil] && client.started.isEmpty)
    client.send(#"{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#)
    client.send(#"{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#)
    #expect(client.codes.suffix(2) == [nil, -32600])
  }

  @Test func toolsHaveSchemasAndSayWhatIsOff() throws {
    var client = Client([.inspect])
    client.send(#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#)
    let tools = try #require(client.results.first?["tools"] as? [[String: Any]])
    #expect(tools.compactMap { $0["name"] as? String }.sorted() == Tool.Name.allCases.map(\.rawValue).sorted())
    for tool in tools {
      let schema = try #require(tool["inputSchema"] as? [String: Any])
      let properties = try #require(schema["properties"] as? [String: Any])
      let required = try #require(schema["required"] as? [String])
      #expect(schema["type"] as? String == "object" && required.allSatisfy { properties[$0] != nil })
      let isOff = (tool["description"] as? String)?.contains("--allow-") ?? false
      #expect(isOff == (tool["name"] as? String == "record"))
    }
    client.send(#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"x"}}"#)
    #expect(client.codes.last == -32602)
  }

  @Test func toolWithoutPermissionIsRefusedWithItsFlag() {
    var client = Client()
    client.call("record", #"{"command":["/bin/true"]}"#)
    client.call("inspect", #"{"pid":1}"#)
    #expect(client.started.isEmpty && client.results.map { $0["isError"] as? Bool } == [true, true])
    let texts = client.results.compactMap { (($0["content"] as? [[String: Any]])?.first)?["text"] as? String }
    #expect(texts.first?.contains("--allow-record") == true && texts.last?.contains("--allow-inspect") == true)
    var allowed = Client([.record, .inspect])
    allowed.call("record", #"{"command":["/bin/true"]}"#)
    #expect(allowed.started.map(\.tool) == [.record] && allowed.sent.isEmpty)
  }

  @Test func callIsAnsweredOnce() {
    var client = Client()
    client.call("findings", #"{"trace":"a.trace"}"#, id: "\"x\"")
    #expect(client.sent.isEmpty && client.started.map(\.id) == [.text("x")])
    // The same ID may not be used while its call runs.
    client.call("findings", #"{"trace":"a.trace"}"#, id: "\"x\"")
    #expect(client.codes == [-32600])
    client.perform(client.session.finish(.text("x"), ToolAnswer(text: "leaks\n\"here\"")))
    #expect(client.sent.last?["id"] as? String == "x")
    #expect((client.results.last?["content"] as? [[String: String]]) == [["type": "text", "text": "leaks\n\"here\""]])
    #expect(client.session.finish(.text("x"), ToolAnswer(text: "")).isEmpty)
  }

  @Test func cancelledCallGetsNoResponse() {
    var client = Client()
    client.call("findings", #"{"trace":"a.trace"}"#)
    client.send(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"bored"}}"#)
    #expect(client.cancelled == [.number(7)])
    #expect(client.session.finish(.number(7), ToolAnswer(text: "late")).isEmpty)
    // Unknown and malformed cancellations are ignored.
    for parameters in [#"{"requestId":7}"#, #"{"requestId":"7"}"#, "{}", #"{"requestId":{}}"#] {
      client.send(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":\#(parameters)}"#)
    }
    #expect(client.cancelled.count == 1 && client.sent.isEmpty)
  }

  @Test func tooManyCallsAreRefused() {
    var client = Client()
    for id in 0..<70 { client.call("findings", #"{"trace":"a.trace"}"#, id: "\(id)") }
    #expect(client.started.count == 64 && client.codes == Array(repeating: -32600, count: 6))
  }

  @Test func invalidArgumentsAreNamed() {
    var client = Client([.record, .inspect])
    for (tool, arguments, word) in [
      ("findings", "{}", "trace"), ("findings", #"{"trace":""}"#, "trace"), ("findings", #"{"trace":5}"#, "trace"),
      ("findings", #"{"trace":"a\u0000b"}"#, "trace"), ("findings", #"{"trace":"a","depth":1}"#, "depth"),
      ("findings", #"{"trace":"a","max_bytes":10}"#, "max_bytes"), ("findings", "[]", "object"),
      ("findings", #"{"trace":"a","max_bytes":4096.5}"#, "max_bytes"), ("record", #"{"command":[]}"#, "command"),
      ("record", #"{"command":["a",1]}"#, "command"), ("inspect", #"{"pid":0}"#, "pid"),
      ("inspect", #"{"pid":"1"}"#, "pid"), ("nothing", "{}", "nothing"),
    ] {
      client.call(tool, arguments)
      #expect(client.codes.last == -32602 && client.errors.last?.contains(word) == true, "\(tool) \(arguments)")
    }
    #expect(client.started.isEmpty)
  }

  @Test func malformedMessagesGetErrorsOfJSONRPC() {
    var client = Client()
    for (text, code) in [
      ("{", -32700), ("nonsense", -32700), ("{\"a\":1}}", -32700), ("\u{0}", -32700), ("5", -32600), ("null", -32600),
      ("\"x\"", -32600), ("{}", -32600), (#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
      (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
      (#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
      (#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600),
      (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, -32600),
      (#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#, -32601),
      (#"{"jsonrpc":"2.0","id":1,"method":""}"#, -32601),
      (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, -32602), ("[]", -32600), ("[1]", -32600),
    ] {
      client.send(text)
      #expect(client.codes.last == code, "\(text)")
    }
    client.perform(client.session.receive(.bytes([0xFF, 0xFE, 0x7B])))
    client.perform(client.session.receive(.tooLong))
    #expect(client.codes.suffix(2) == [-32700, -32600])
    let count = client.sent.count
    for ignored in [
      #"{"jsonrpc":"2.0","method":"unknown/notification"}"#, #"{"jsonrpc":"2.0","id":9,"result":{}}"#,
      #"{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":""}}"#,
    ] { client.send(ignored) }
    #expect(client.sent.count == count)
    client.send(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
    #expect(client.codes.last == .some(nil))
  }

  @Test func deepNestingAndRandomBytesAreErrors() {
    var client = Client()
    client.send(String(repeating: "[", count: 100_000))
    client.send(String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000))
    client.send(String(repeating: #"{"a":"#, count: 50_000))
    #expect(client.codes.allSatisfy { $0 == -32700 || $0 == -32600 } && client.sent.count == 3)
    var random = SeededRandom(seed: 11)
    let message = Array(
      #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"why","arguments":{"trace":"a"}}}"#.utf8)
    for _ in 0..<2000 {
      var bytes = message
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      client.perform(client.session.receive(.bytes(bytes)))
    }
  }

  @Test func batchIsAnsweredTogetherInItsRevisionOnly() {
    let batch =
      #"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/progress"},"#
      + #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"findings","arguments":{"trace":"a"}}},5]"#
    var client = Client(revision: "2025-03-26")
    client.send(batch)
    #expect(client.batches.isEmpty && client.started.map(\.id) == [.number(2)])
    client.perform(client.session.finish(.number(2), ToolAnswer(text: "done")))
    #expect(client.batches.count == 1 && client.batches[0].count == 3)
    client.send(#"[{"jsonrpc":"2.0","method":"notifications/progress"}]"#)
    #expect(client.batches.count == 1)
    // A cancelled call no longer holds back the others.
    client.send(batch)
    client.send(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#)
    #expect(client.batches.count == 2 && client.batches[1].count == 2)
    var newer = Client()
    newer.send(batch)
    #expect(newer.codes == [-32600] && newer.started.isEmpty)
  }
}

@Suite struct ToolCommandTests {
  private func line(_ tool: String, _ arguments: String) throws -> [String] {
    var client = Client([.record, .inspect])
    client.call(tool, arguments)
    return try #require(client.started.first, "\(client.errors)").commandLine(newTrace: "new.trace")
  }

  @Test func eachToolHasACommandLine() throws {
    let brief = ["--format=brief-json", "--brief-size=4096"]
    #expect(try line("findings", #"{"trace":"a.trace"}"#) == ["analyze"] + brief + ["--", "a.trace"])
    #expect(
      try line("findings", #"{"trace":"a","cursor":"10","max_bytes":9000}"#)
        == ["analyze", "--format=brief-json", "--brief-size=9000", "--brief-cursor=10", "--", "a"])
    #expect(
      try line("finding", #"{"trace":"a","fingerprint":"0a"}"#)
        == ["analyze"] + brief + ["--brief-finding=0a", "--", "a"])
    #expect(
      try line("why", #"{"trace":"a","object":"Screen","by_allocation":true}"#)
        == ["why"] + brief + ["--site", "--", "a", "Screen"])
    #expect(try line("tasks", #"{"trace":"a","waiting":true}"#) == ["tasks"] + brief + ["--waiting", "--", "a"])
    #expect(
      try line("verify", #"{"old":"a","new":["b","c"],"fingerprints":["1"]}"#)
        == ["verify"] + brief + ["--finding=1", "--", "a", "b", "c"])
    #expect(
      try line("record", #"{"command":["./app","-x"],"seconds":5}"#)
        == ["record", "--quiet", "--output=new.trace", "--", "./app", "-x"])
    #expect(try line("inspect", #"{"pid":12}"#) == ["inspect"] + brief + ["--output=new.trace", "--", "12"])
  }

  @Test func textOfAClientIsNeverAnOption() throws {
    for (tool, arguments) in [
      ("findings", #"{"trace":"--write=text=/etc/x","cursor":"--help"}"#),
      ("finding", #"{"trace":"-o","fingerprint":"--format"}"#), ("why", #"{"trace":"--help","object":"--format"}"#),
      ("verify", #"{"old":"--help","new":["--write"],"fingerprints":["--help"]}"#),
      ("record", #"{"command":["--pid","1"],"trace":"--pid"}"#),
    ] {
      let line = try line(tool, arguments)
      let options = line.prefix { $0 != "--" }.dropFirst()
      let known = ["--format=", "--brief-", "--finding=", "--quiet", "--output=", "--site"]
      #expect(options.allSatisfy { option in known.contains { option.hasPrefix($0) } }, "\(line)")
    }
  }
}
