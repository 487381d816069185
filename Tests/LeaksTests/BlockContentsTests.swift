// Blocks whose words are not references, recognised by the allocating function.

import Testing
import TraceTestSupport

@testable import TraceReading
@testable import TraceSymbolication

@Suite struct BlockContentsTests {
  private static let cLibrary: Range<UInt64> = 0x7000_0000_0000..<0x7000_0010_0000

  @Test(arguments: ["_IO_file_doallocate", "__GI__IO_file_doallocate"]) func streamBufferHoldsNoReferences(
    allocator: String
  ) throws {
    #expect(try lostFunctions(allocator: allocator, at: Self.cLibrary.lowerBound + 0x100) == ["copy()"])
  }

  @Test func otherCLibraryMemoryMayHoldReferences() throws {
    #expect(try lostFunctions(allocator: "getdelim", at: Self.cLibrary.lowerBound + 0x100).isEmpty)
  }

  @Test func programFunctionWithAStreamAllocatorsNameMayHoldReferences() throws {
    #expect(try lostFunctions(allocator: "_IO_file_doallocate", at: 0x1000_1060).isEmpty)
  }

  /// Returns the functions whose memory is lost if the only pointer to it is in a block that `allocator` made.
  private func lostFunctions(allocator: String, at address: UInt64) throws -> [String?] {
    let heap = HeapBuilder()
    heap.trace.image("/lib/x86_64-linux-gnu/libc.so.6", Self.cLibrary)
    let buffer = heap.malloc(1024, stack: [0x1000_1010, address])
    let copy = heap.malloc(100, stack: [0x1000_1040])
    heap.words[buffer.address + 512] = copy.address
    heap.global(buffer)
    return try heap.findings([0x1000_1040: "copy()", address: allocator]).map { $0.path[0].allocation?.function }
  }

  @Test func tablesOfTypesHoldOnlyTables() throws {
    let heap = HeapBuilder()
    heap.type("App.Session", fields: [])
    let session = heap.object("App.Session", count: 3 | 1 << 33)
    let record = heap.malloc(64, stack: [0x1000_1040])
    let table = heap.malloc(248, stack: [0x1000_1060])
    (heap.words[table.address + 8], heap.words[table.address + 16]) = (session.address, record.address)
    heap.global(table)
    let names: [UInt64: String] = [0x1000_1060: "_ZN16ConformanceState11cacheResultEv", 0x1000_1040: "copy()"]
    #expect(try heap.findings(names).isEmpty, "without a Swift runtime there is no such table")
    let findings = try heap.analysis(naming: RuntimeNames(functions: FunctionTable(names))).findings()
    #expect(findings.map(\.verdict) == [.lost] && findings.first?.path[0].qualifiedType == "App.Session")
  }

  @Test(arguments: ["libswiftCore.so", "app"]) func strippedRuntimeIsRecognizedByItsExportedFunctions(
    library: String
  ) throws {
    let heap = HeapBuilder()
    heap.trace.image("/usr/lib/swift/linux/\(library)", Self.cLibrary)
    heap.type("App.Session", fields: [])
    let session = heap.object("App.Session", count: 3 | 1 << 33)
    let (exported, unnamed) = (Self.cLibrary.lowerBound + 0x100, Self.cLibrary.lowerBound + 0x200)
    let table = heap.malloc(248, stack: [exported, unnamed])
    heap.words[table.address + 8] = session.address
    heap.global(table)
    let names = FunctionTable([exported: "swift_getTypeByMangledName"])
    let findings = try heap.analysis(naming: RuntimeNames(functions: names, unnamed: unnamed)).findings()
    #expect(findings.map(\.verdict) == (library == "app" ? [] : [.lost]))
  }

  /// Names the functions of an image that contains the Swift runtime.
  private struct RuntimeNames: FrameNaming {
    let functions: FunctionTable
    var remarks: [String] { [] }
    var unnamed: UInt64?
    func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
      key.address.rawValue == unnamed ? [] : functions.frames(for: key, in: image)
    }
    func address(ofFunction mangledName: String, in image: LoadedImage) -> RuntimeAddress? {
      RuntimeAddress(0x1000_0040)
    }
  }
}
