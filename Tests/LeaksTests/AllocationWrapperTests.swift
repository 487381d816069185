// Wrappers of malloc, and the functions that call them.

import Testing
import TraceTestSupport

@testable import TraceReading
@testable import TraceSymbolication

@Suite struct AllocationWrapperTests {
  /// Names the functions of a C program. Functions whose names begin with "x" are declared like allocators.
  private struct Functions: FrameNaming {
    var names: [UInt64: [String]] = [:]
    var remarks: [String] { [] }

    func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
      (names[key.address.rawValue] ?? ["main"]).map { name in
        let isSystem = name == "malloc" || name == "start_thread"
        return SourceFrame(
          function: name, fullFunction: name, mangledName: name,
          imagePath: isSystem ? "/lib/x86_64-linux-gnu/libc.so.6" : "/srv/app/server", file: nil, line: nil,
          column: nil,
          isInlined: false, kind: isSystem ? .systemLibrary : .user, isAsync: false, asyncPart: nil)
      }
    }

    func allocatorSignatures(for key: FrameKey, in image: LoadedImage?) -> [Bool] {
      frames(for: key, in: image).map { $0.function.hasPrefix("x") }
    }
  }

  /// Returns the functions that findings of lost memory name. Each stack lists its functions from the allocation
  /// outwards. The blocks of the `freed` stacks are freed.
  private func places(_ stacks: [[[String]]], freed: [[[String]]] = []) throws -> Set<String> {
    let heap = HeapBuilder()
    var naming = Functions()
    var addresses: [String: UInt64] = [:]
    func stack(_ functions: [[String]]) -> [UInt64] {
      functions.reversed().map { frame in
        let address = addresses[frame.joined(separator: "|")] ?? 0x1000_1100 + UInt64(addresses.count) * 16
        addresses[frame.joined(separator: "|")] = address
        naming.names[address] = frame
        return address
      }
    }
    for functions in freed { heap.free(heap.malloc(24, stack: stack(functions))) }
    for (index, functions) in stacks.enumerated() { _ = heap.malloc(32 + UInt64(index) * 16, stack: stack(functions)) }
    return Set(try heap.analysis(naming: naming).findings().map { $0.path[0].allocation?.function ?? "?" })
  }

  private let makers = ["open_session", "read_header", "copy_name", "grow_index"]

  @Test func leaksWithACommonWrapperAreSeparatedByTheWrappersCaller() throws {
    #expect(try places(makers.map { [["malloc"], ["xmalloc"], [$0], ["main"]] }) == Set(makers))
  }

  @Test func freedBlocksAlsoRevealAWrapper() throws {
    #expect(
      try places([[["malloc"], ["xmalloc"], ["open_session"]]], freed: makers.map { [["malloc"], ["xmalloc"], [$0]] })
        == ["open_session"])
  }

  @Test func nestedWrappersAreSkipped() throws {
    #expect(
      try places(
        makers.map { [["malloc"], ["xmalloc"], ["xzalloc"], [$0]] } + makers.map { [["malloc"], ["xmalloc"], [$0]] })
        == Set(makers))
  }

  @Test func inlinedWrappersAreSkipped() throws {
    #expect(try places(makers.map { [["malloc"], ["xmalloc", $0], ["main"]] }) == Set(makers))
  }

  @Test func functionThatAllocatesForManyCallersIsNotAWrapper() throws {
    #expect(try places(makers.map { [["malloc"], ["make_buffer"], [$0]] }) == ["make_buffer"])
  }

  @Test func functionWithThreeCallersIsNotAWrapper() throws {
    #expect(try places(makers.prefix(3).map { [["malloc"], ["xmalloc"], [$0]] }) == ["xmalloc"])
  }

  @Test func threadStartFunctionIsNotAWrapper() throws {
    #expect(
      try places([[["malloc"], ["xwork"], ["start_thread"]]], freed: makers.map { [["malloc"], ["xwork"], [$0]] }) == [
        "xwork"
      ])
  }
}
