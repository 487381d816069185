// Filters of system calls are evaluated as the kernel evaluates them, for every call that the recorder makes.

import CTraceShim
import Foundation
import Testing

struct FilterProgramTests {
  private static let allow: UInt32 = 0x7FFF_0000, kill: UInt32 = 0x8000_0000
  // Classes, sizes, modes and sources of classic BPF (linux/bpf_common.h).
  private static let load: UInt16 = 0x20, loadIndex: UInt16 = 0x01, loadMemory: UInt16 = 0x60, store: UInt16 = 0x02,
    ret: UInt16 = 0x06, retA: UInt16 = 0x16
  private static let jumpEqual: UInt16 = 0x15, jumpGreater: UInt16 = 0x25, jumpAtLeast: UInt16 = 0x35,
    jumpSet: UInt16 = 0x45, jump: UInt16 = 0x05
  private static let toX: UInt16 = 0x07, fromX: UInt16 = 0x87

  private func op(_ code: UInt16, _ k: UInt32 = 0, _ whenTrue: UInt8 = 0, _ whenFalse: UInt8 = 0) -> sock_filter {
    sock_filter(code: code, jt: whenTrue, jf: whenFalse, k: k)
  }

  private func run(_ program: [sock_filter], number: Int32 = 1, first: UInt64 = 0) -> UInt32 {
    var call = seccomp_data()
    call.nr = number
    call.args.0 = first
    return lt_filter_run(program, UInt32(program.count), &call)
  }

  @Test("A list of allowed numbers decides by the number") func allowList() {
    let program = [op(Self.load, 0), op(Self.jumpEqual, 39, 1, 0), op(Self.ret, Self.kill), op(Self.ret, Self.allow)]
    #expect(run(program, number: 39) == Self.allow)
    #expect(run(program, number: 40) == Self.kill)
  }

  @Test("Both halves of an argument are read") func arguments() {
    // The low half is at offset 16, and the high half at 20.
    let program = [
      op(Self.load, 20), op(Self.jumpEqual, 0x1234, 0, 2), op(Self.load, 16), op(Self.jumpSet, 0x80, 1, 0),
      op(Self.ret, Self.kill), op(Self.ret, Self.allow),
    ]
    #expect(run(program, first: 0x1234_0000_0080) == Self.allow)
    #expect(run(program, first: 0x1234_0000_0040) == Self.kill)
    #expect(run(program, first: 0x80) == Self.kill)
  }

  @Test("Comparisons are unsigned") func comparisons() {
    #expect(
      run([op(Self.load, 16), op(Self.jumpGreater, 5, 0, 1), op(Self.ret, 1), op(Self.ret, 2)], first: 0xFFFF_FFFF) == 1
    )
    #expect(run([op(Self.load, 16), op(Self.jumpGreater, 5, 0, 1), op(Self.ret, 1), op(Self.ret, 2)], first: 5) == 2)
    #expect(run([op(Self.load, 16), op(Self.jumpAtLeast, 5, 0, 1), op(Self.ret, 1), op(Self.ret, 2)], first: 5) == 1)
  }

  @Test("Arithmetic, the index register and scratch memory work as in the kernel") func arithmetic() {
    let add: UInt16 = 0x04, multiply: UInt16 = 0x24, divideByX: UInt16 = 0x3C, shiftLeft: UInt16 = 0x64,
      negate: UInt16 = 0x84, and: UInt16 = 0x54
    #expect(run([op(Self.load, 16), op(add, 7), op(multiply, 3), op(Self.retA)], first: 5) == 36)
    #expect(run([op(Self.load, 16), op(shiftLeft, 4), op(and, 0xF0), op(Self.retA)], first: 0x1F) == 0xF0)
    #expect(run([op(Self.load, 16), op(negate), op(Self.retA)], first: 1) == 0xFFFF_FFFF)
    #expect(
      run(
        [
          op(Self.load, 16), op(Self.store, 3), op(Self.load, 0), op(Self.toX), op(Self.loadMemory, 3), op(divideByX),
          op(Self.retA),
        ], number: 4, first: 20) == 5)
    #expect(run([op(Self.loadIndex, 9), op(Self.fromX), op(Self.retA)]) == 9)
  }

  @Test(
    "An invalid instruction ends the process, and no jump leaves the program",
    arguments: [
      [(UInt16(0x20), UInt32(64))], [(0x60, 16)], [(0x02, 99)], [(0x05, 0xFFFF_FFFF), (0x06, 0x7FFF_0000)], [],
    ])
  func refused(program: [(UInt16, UInt32)]) {
    #expect(run(program.map { op($0.0, $0.1) }) == Self.kill)
  }

  @Test("A division by zero ends the thread") func division() {
    let divideByX: UInt16 = 0x3C
    #expect(run([op(divideByX), op(Self.ret, Self.allow)]) == 0)
  }

  @Test("The filter is checked for every system call in the sources") func listIsComplete() throws {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
      path: "../../Sources/CTraceShim"
    ).standardizedFileURL
    var made: Set<String> = [], listed: Set<String> = []
    let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    for case let file as URL in files where ["c", "h"].contains(file.pathExtension) {
      let text = try String(contentsOf: file, encoding: .utf8)
      for match in text.matches(of: /(?:lt_syscall6?\(|"a"\()SYS_([a-z0-9_]+)/) { made.insert(String(match.1)) }
    }
    let list = sources.deletingLastPathComponent().appending(path: "CProcessCalls/include/recorder_calls.h")
    for match in try String(contentsOf: list, encoding: .utf8).matches(of: /LT_CALL_NAMED\(([a-z0-9_]+)\),/) {
      listed.insert(String(match.1))
    }
    #expect(made.count > 30)
    #expect(made.subtracting(listed) == [])
  }
}
