// A child process that answers questions: its limits, its end, and the children that replace it.

import CSandboxedChild
import Glibc
import Testing

@testable import TraceSymbolication

/// The limit on an answer in bytes.
private let answerLimit: UInt32 = 1 << 16

/// A service that obeys its questions.
private enum Obedient {
  static func service(answerMilliseconds: Int32 = 10_000) -> UnsafePointer<lt_child_service> {
    let service = UnsafeMutablePointer<lt_child_service>.allocate(capacity: 1)
    service.initialize(
      to: lt_child_service(
        questionLimit: 64, answerLimit: answerLimit, memoryLimit: 64 << 20, stackLimit: 0,
        answerMilliseconds: answerMilliseconds, begin: nil,
        answer: { _, question, size, answer in
          switch question.map({ String(cString: $0) }) {
          case "abort": abort()
          case "sleep": sleep(100)
          case "allocate": if malloc(128 << 20) == nil { abort() }
          case "flood": for _ in 0...(Int(answerLimit) >> 6) { lt_child_append(answer, question, 64) }
          case "nothing": return false
          case "number":
            var number = getpid()
            lt_child_append(answer, &number, MemoryLayout<pid_t>.size)
            return true
          default: break
          }
          lt_child_append(answer, question, size)
          return true
        }))
    return UnsafePointer(service)
  }
}

@Suite struct SandboxedChildTests {
  private let service = Obedient.service()

  private func child(_ service: UnsafePointer<lt_child_service>, lostTimeLimit: Duration = .seconds(100))
    -> SandboxedChild
  {
    let service = UInt(bitPattern: service)
    return SandboxedChild(lostTimeLimit: lostTimeLimit) { lt_child_start($0, UnsafePointer(bitPattern: service), nil) }
  }

  private func ask(_ child: SandboxedChild, _ question: String) throws -> String? {
    var question = question
    return try question.withUTF8 { bytes in
      try child.ask(UnsafeRawBufferPointer(bytes)) { answer -> String?? in
        .some(answer.map { String(decoding: $0, as: UTF8.self) })
      }
    }
  }

  @Test func childAnswers() throws {
    let child = child(service)
    #expect(try ask(child, "hello") == "hello")
    #expect(try ask(child, "") == "")
    #expect(try ask(child, "nothing") == nil)
    #expect(try ask(child, String(repeating: "x", count: 64))?.count == 64)
    #expect(child.deaths == 0)
    #expect(child.generation == 1)
  }

  @Test(arguments: [
    "abort", "allocate", "flood", "a question that is longer than any question of this service may be, by far",
  ])
  func questionThatExceedsLimitsEndsTheChildAndANewOneStarts(_ question: String) throws {
    let child = child(service)
    #expect(throws: SandboxedChild.Failure.self) { try ask(child, question) }
    #expect(try ask(child, "hello") == "hello")
    #expect(child.deaths == 1)
    #expect(child.generation == 2)
  }

  @Test func missingAnswerEndsTheChild() throws {
    let child = child(Obedient.service(answerMilliseconds: 50))
    #expect(throws: SandboxedChild.Failure.self) { try ask(child, "sleep") }
    #expect(child.deaths == 1)
  }

  @Test func malformedAnswerCountsAsADeath() throws {
    let child = child(service)
    #expect(throws: SandboxedChild.Failure.self) {
      try child.ask(UnsafeRawBufferPointer(start: nil, count: 0)) { _ -> Int? in nil }
    }
    #expect(child.deaths == 1)
  }

  @Test func childIsNotRestartedAfterManyDeaths() throws {
    let child = child(service)
    for _ in 0..<64 { #expect(throws: SandboxedChild.Failure.self) { try ask(child, "abort") } }
    #expect(throws: SandboxedChild.Failure.self) { try ask(child, "hello") }
    #expect(child.deaths == 64)
    #expect(child.generation == 64)
  }

  @Test func childIsNotAskedAfterTooMuchLostTime() throws {
    let child = child(Obedient.service(answerMilliseconds: 50), lostTimeLimit: .milliseconds(40))
    #expect(throws: SandboxedChild.Failure.self) { try ask(child, "sleep") }
    #expect(throws: SandboxedChild.Failure.self) { try ask(child, "hello") }
    #expect(child.generation == 1)
  }

  @Test func childEndsWithItsOwner() throws {
    var child: SandboxedChild? = child(service)
    let number = try Array("number".utf8).withUnsafeBytes { question in
      try child?.ask(question) { $0?.loadUnaligned(as: pid_t.self) }
    }
    child = nil
    #expect(kill(try #require(number), 0) == -1)
    #expect(errno == ESRCH)
  }
}
