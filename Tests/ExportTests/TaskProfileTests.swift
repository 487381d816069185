import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import TraceExports
@testable import TraceReading
@testable import TraceSymbolication

struct TaskProfileTests {
  private static func frame(_ name: String, line: Int? = nil) -> SourceFrame {
    SourceFrame(
      function: name, fullFunction: name, mangledName: "$s\(name)", imagePath: "/bin/app", file: "/src/app.swift",
      line: line, column: nil, isInlined: false, kind: .user, isAsync: true, asyncPart: nil)
  }

  private static let rows: [TaskInventory.Row] = {
    var waiting = TaskInventory.Row(state: .waiting, wait: .continuation, resumer: .noCode)
    waiting.stack = [frame("receive", line: 7), frame("serve", line: 20)]
    waiting.function = frame("serve", line: 18)
    (waiting.count, waiting.bytes, waiting.retainedBytes) = (3, 600, 900)
    var again = waiting
    again.stack[0].line = 9
    (again.wait, again.resumer, again.count, again.retainedBytes) = (.sleep, .timer, 2, 0)
    var finished = TaskInventory.Row(state: .finished)
    finished.function = frame("serve", line: 18)
    (finished.count, finished.bytes) = (1, 200)
    return [waiting, again, finished]
  }()

  private static func message() throws -> ProtobufMessage {
    var analysis = AllocationAnalysis(try ExportFixture().trace.reader())
    analysis.header.startRealtime = ExportFixture.start
    return try ProtobufMessage(TaskProfile(rows, analysis, TraceSnapshot(reason: .request, time: 0)).message())
  }

  @Test func samplesCountTasks() throws {
    let message = try Self.message()
    let strings = message.strings(6)
    func string(_ number: UInt64) -> String { strings[Int(number)] }
    #expect(
      try message.messages(1).map { "\(string($0.number(1)))/\(string($0.number(2)))" }
        == ["tasks/count", "retained_space/bytes"])
    #expect(string(message.number(14)) == "tasks" && message.number(9) >= ExportFixture.start)
    let samples = try message.messages(2)
    #expect(try samples.map { try $0.numbers(2) } == [[3, 900], [2, 600], [1, 200]])
    let labels = try samples.map {
      try $0.messages(3).map { "\(string($0.number(1))) \(string($0.number(2)))" }
    }
    #expect(
      labels == [
        ["state waiting", "wait continuation", "resumedBy noCode"], ["state waiting", "wait sleep", "resumedBy timer"],
        ["state finished"],
      ])
  }

  @Test func stacksAreInnermostFirst() throws {
    let message = try Self.message()
    let strings = message.strings(6)
    let names = try Dictionary(
      uniqueKeysWithValues: message.messages(5).map { ($0.number(1), strings[Int($0.number(2))]) })
    let lines = try Dictionary(
      uniqueKeysWithValues: message.messages(4).map { location in
        (
          location.number(1),
          try location.messages(4).map { "\(names[$0.number(1)] ?? "?"):\($0.number(2))" }.joined()
        )
      })
    let stacks = try message.messages(2).map { try $0.numbers(1).map { lines[$0] ?? "?" } }
    // A task that has finished has no stack.
    #expect(stacks == [["receive:7", "serve:20"], ["receive:9", "serve:20"], ["[finished]:0", "serve:18"]])
    #expect(names.count == 3)
    #expect(try message.messages(3).map { strings[Int($0.number(5))] } == ["/bin/app"])
  }
}
