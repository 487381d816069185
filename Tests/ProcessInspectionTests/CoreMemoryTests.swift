// Memory and threads from core files.

import CZstd
import Foundation
import TestRequirements
import Testing
import TraceReading
import TraceSymbolication
import TraceTestSupport

@testable import ProcessInspection

@Suite struct CoreMemoryTests {
  /// Writes a core to a temporary file, which exists while `body` runs.
  static func withCore(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.path + "/core-\(UUID().uuidString)"
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  /// Files by path, which replace the machine's files.
  struct Files: SymbolFileAccess {
    var files: [String: [UInt8]]
    func contents(ofFile path: String) -> SymbolFileContents? { files[path].map { SymbolFileContents($0) } }
  }

  static func core() -> SyntheticCore {
    var core = SyntheticCore()
    core.segments = [
      .init(address: 0x1000, bytes: [UInt8](repeating: 1, count: 4096), size: 4096),
      .init(address: 0x2000, bytes: [UInt8](repeating: 2, count: 2048), size: 8192, flags: 4),
      .init(address: 0x9000, bytes: [], size: 4096),
    ]
    core.threads = [(7, (0..<27).map { 100 + $0 }), (8, (0..<27).map { 200 + $0 })]
    return core
  }

  @Test func memoryComesFromTheCoreFile() throws {
    try Self.withCore(Self.core().bytes()) { path in
      let memory = try CoreMemory(path: path)
      #expect(memory.bytes(at: 0x1FFC, count: 8) == [1, 1, 1, 1, 2, 2, 2, 2])
      #expect(memory.bytes(at: 0x27FE, count: 8) == [2, 2] && memory.bytes(at: 0x800, count: 8).isEmpty)
      #expect(memory.bytes(at: 0x9000, count: 8).isEmpty && memory.bytes(at: .max - 3, count: 8).isEmpty)
      #expect(memory.missingAnonymousBytes == 6144 && memory.missingFiles.isEmpty && !memory.isTruncated)
      #expect(memory.mappings.map(\.isWritable) == [true, false, true])
      #expect(memory.threads.map(\.threadID) == [7, 8])
      let last = try #require(memory.threads.last)
      #expect(last.instructionPointer == 216 && last.stackPointer == 219 && last.threadPointer == 221)
    }
  }

  @Test func coresOfArm64HaveItsRegisters() throws {
    var core = SyntheticCore()
    core.machine = 183
    core.pageSize = 65536
    // svc #0, and another instruction.
    let code = bytesOf(UInt32(0xD503_201F)) + bytesOf(UInt32(0xD400_0001)) + bytesOf(UInt32(0xD503_201F))
    core.segments = [.init(address: 0x10000, bytes: code, size: 65536, flags: 5)]
    for (number, counter) in [0x10004, 0x10008, 0x10000].enumerated() as EnumeratedSequence<[UInt64]> {
      var registers: [UInt64] = (0..<34).map { 100 + $0 }
      (registers[0], registers[8], registers[32]) = (number == 1 ? UInt64(bitPattern: -4) : 5, 22, counter)
      core.threads.append((UInt32(number) + 7, registers))
    }
    core.threadPointers = [900, 901]
    try Self.withCore(core.bytes()) { path in
      let memory = try CoreMemory(path: path)
      #expect(memory.processor == .arm64 && memory.pageSize == 65536)
      #expect(memory.threads.map(\.instructionPointer) == [0x10004, 0x10008, 0x10000])
      #expect(memory.threads.allSatisfy { $0.stackPointer == 131 })
      #expect(memory.threads.map(\.threadPointer) == [900, 901, 0])
      // The kernel will restart the first call; it ended the second one with EINTR. The third thread cannot be judged,
      // as the code before its address is missing.
      #expect(memory.threads.map(\.activity) == [.inCall(22, waits: true), .inCall(22, waits: true), .unknown])
    }
  }

  /// Returns the two pages of an image with a build ID. The loader maps the second page if it has rights.
  /// given.
  static func image(buildID: UInt8, rightsOfSecondPage: UInt32? = nil) -> [UInt8] {
    let segments = rightsOfSecondPage == nil ? 0 : 1
    var bytes: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9)
    for half in [3, 62] as [UInt16] { bytes += bytesOf(half) }
    bytes += bytesOf(UInt32(1))
    for word in [0, 64, 0] as [UInt64] { bytes += bytesOf(word) }
    bytes += bytesOf(UInt32(0))
    for half in [64, 56, 1 + UInt16(segments), 0, 0, 0] as [UInt16] { bytes += bytesOf(half) }
    bytes += bytesOf(UInt32(4))
    bytes += bytesOf(UInt32(4))
    let note = UInt64(120 + 56 * segments)
    for word in [note, note, note, 20, 20, 4] as [UInt64] { bytes += bytesOf(word) }
    if let rightsOfSecondPage {
      for half in [1, rightsOfSecondPage] as [UInt32] { bytes += bytesOf(half) }
      for _ in 0..<6 { bytes += bytesOf(UInt64(4096)) }
    }
    for half in [4, 4, 3] as [UInt32] { bytes += bytesOf(half) }
    bytes += [0x47, 0x4E, 0x55, 0, buildID, 2, 3, 4]
    bytes += [UInt8](repeating: 0, count: 4096 - bytes.count)
    return bytes + [UInt8](repeating: 9, count: 4096)
  }

  @Test(arguments: [true, false]) func memoryMissingFromTheCoreComesOnlyFromTheSameFile(isSame: Bool) throws {
    var core = SyntheticCore()
    let image = Self.image(buildID: 1)
    core.segments = [
      .init(address: 0x40_0000, bytes: Array(image[..<4096]), size: 4096, flags: 4),
      .init(address: 0x40_1000, bytes: [], size: 4096, flags: 5),
    ]
    core.files = [(0x40_0000..<0x40_1000, 0, "/a b"), (0x40_1000..<0x40_2000, 1, "/a b")]
    let files = Files(files: ["/a b": isSame ? image : Self.image(buildID: 5)])
    try Self.withCore(core.bytes()) { path in
      let memory = try CoreMemory(path: path, files: files)
      #expect(memory.mappings[1].file == BackingFile(path: "/a b", offset: 4096))
      #expect(memory.bytes(at: 0x40_1FFE, count: 8) == (isSame ? [9, 9] : []))
      #expect(memory.missingFiles == (isSame ? [] : ["/a b"]) && memory.missingAnonymousBytes == 0)
    }
  }

  @Test("The mapped files may be below another root directory") func sysroot() throws {
    let image = Self.image(buildID: 1)
    var core = SyntheticCore()
    core.segments = [
      .init(address: 0x40_0000, bytes: Array(image[..<4096]), size: 4096, flags: 4),
      .init(address: 0x40_1000, bytes: [], size: 4096, flags: 5),
    ]
    core.files = [(0x40_0000..<0x40_1000, 0, "/a b"), (0x40_1000..<0x40_2000, 1, "/a b")]
    let files = Files(files: ["/a b": Self.image(buildID: 5), "/root/a b": image])
    try Self.withCore(core.bytes()) { path in
      let memory = try CoreMemory(path: path, search: DebugFileSearch(sysroot: "/root"), files: files)
      #expect(memory.bytes(at: 0x40_1FFE, count: 8) == [9, 9] && memory.missingFiles.isEmpty)
      // A debug file has the same build ID, but no contents.
      let copies = Files(files: ["/copies/a b": image, "/copies/a b.debug": image])
      let search = DebugFileSearch(debugPaths: ["/copies"])
      #expect(try CoreMemory(path: path, search: search, files: copies).missingFiles == ["/a b"])
    }
  }

  @Test("Program headers identify code that a debugger left out of the core", arguments: [4, 5])
  func codeThatTheCoreLeavesOut(rights: UInt32) throws {
    let image = Self.image(buildID: 1, rightsOfSecondPage: rights)
    var core = SyntheticCore()
    core.segments = [.init(address: 0x40_0000, bytes: Array(image[..<4096]), size: 4096, flags: 4)]
    core.files = [(0x40_0000..<0x40_1000, 0, "/a b"), (0x40_1000..<0x40_2000, 1, "/a b")]
    try Self.withCore(core.bytes()) { path in
      let memory = try CoreMemory(path: path, files: Files(files: ["/a b": image]))
      #expect(memory.mappings.map(\.isExecutable) == [false, rights == 5])
      #expect(memory.bytes(at: 0x40_1000, count: 2) == [9, 9])
    }
  }

  @Test("Untouched memory is not missing unless a filter left everything out")
  func untouchedMemory() throws {
    var core = SyntheticCore()
    core.segments = [
      .init(address: 0x1000, bytes: [UInt8](repeating: 1, count: 4096), size: 4096),
      .init(address: 0x3000, bytes: [], size: 4096),
      // The kernel's variables are in two pieces, followed by its code.
      .init(address: 0x6000, bytes: [], size: 8192, flags: 4),
      .init(address: 0x8000, bytes: [], size: 4096, flags: 4),
      .init(address: 0x9000, bytes: [UInt8](repeating: 2, count: 4096), size: 4096, flags: 5),
    ]
    core.kernelCode = 0x9000
    try Self.withCore(core.bytes()) { path in
      let memory = try CoreMemory(path: path)
      #expect(memory.missingAnonymousBytes == 0 && !memory.lacksMemory)
    }
    core.segments[0].bytes = []
    try Self.withCore(core.bytes()) { path in
      let memory = try CoreMemory(path: path)
      #expect(memory.missingAnonymousBytes == 8192 && memory.lacksMemory)
    }
  }

  @Test("A stack of zeros counts as unwritten, and its referents may look lost")
  func unwrittenStacks() throws {
    func registers(stackPointer: UInt64) -> [UInt64] {
      // The stack pointer is word 19 of `user_regs_struct`.
      (0..<27).map { $0 == 19 ? stackPointer : 0 }
    }
    var core = SyntheticCore()
    core.segments = [
      .init(address: 0x1000, bytes: [UInt8](repeating: 0, count: 4088) + [0, 0, 0, 0, 0, 0, 0, 1], size: 4096),
      .init(address: 0x10_0000, bytes: [UInt8](repeating: 0, count: 1 << 17), size: 1 << 17),
    ]
    core.threads = [(7, registers(stackPointer: 0x1008)), (8, registers(stackPointer: 0x9000))]
    try Self.withCore(core.bytes()) { path in
      let memory = try CoreMemory(path: path)
      #expect(memory.missingStacks == 0 && !memory.lacksMemory)
    }
    core.threads += [(9, registers(stackPointer: 0x11_0000)), (10, registers(stackPointer: 0x10_0100))]
    try Self.withCore(core.bytes()) { path in
      let memory = try CoreMemory(path: path)
      #expect(memory.missingStacks == 2 && memory.lacksMemory)
      #expect(memory.remarks.contains { $0.hasPrefix("the core file lacks the stacks of 2 threads: ") })
    }
  }

  private static func packed(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { buffer, count in
      count = ZSTD_compress(buffer.baseAddress, buffer.count, bytes, bytes.count, 3)
    }
  }

  @Test("A Zstandard core is read without storing its zeros")
  func packedCore() throws {
    var core = Self.core()
    let zeros = 64 << 20
    core.segments.append(.init(address: 0x10_0000, bytes: [UInt8](repeating: 0, count: zeros), size: UInt64(zeros)))
    core.segments.append(.init(address: 0x1000_0000, bytes: [UInt8](repeating: 5, count: 4096), size: 4096))
    let packed = Self.packed(core.bytes())
    // A separate directory is used, because other processes create and remove files in the shared one.
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("unpacked-\(UUID())").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try Self.withCore(packed) { path in
      let memory = try CoreMemory(path: path, unpackingIn: directory)
      #expect(!memory.isTruncated && memory.bytes(at: 0x1FFC, count: 8) == [1, 1, 1, 1, 2, 2, 2, 2])
      #expect(memory.bytes(at: 0x10_0000 + UInt64(zeros) - 4, count: 4) == [0, 0, 0, 0])
      #expect(memory.bytes(at: 0x1000_0FFE, count: 8) == [5, 5])
      let descriptor = open(path, O_RDONLY)
      defer { close(descriptor) }
      let unpacked = try PackedCore(path: path, packed: descriptor, directory: directory).unpacked()
      defer { close(unpacked) }
      var status = stat()
      #expect(fstat(unpacked, &status) == 0 && status.st_size > zeros && status.st_blocks * 512 < 1 << 20)
    }
    // The bytes before the damage or the premature end can be read.
    try Self.withCore(Array(packed.dropLast(packed.count / 3))) { path in
      let memory = try CoreMemory(path: path, unpackingIn: directory)
      #expect(memory.isTruncated)
    }
    try Self.withCore(packed) { path in
      #expect(throws: InspectionError.cannotUnpack(path: path, directory: "/none", errno: ENOENT)) {
        try CoreMemory(path: path, unpackingIn: "/none")
      }
    }
    for (head, packing) in [([0x1F, 0x8B], .gzip), ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], .xz)] as [([UInt8], CorePacking)]
    {
      try Self.withCore(head + [UInt8](repeating: 0, count: 64)) { path in
        #expect(throws: InspectionError.packed(path: path, packing)) { try CoreMemory(path: path) }
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
  }

  @Test func truncatedCoreIsReported() throws {
    let whole = Self.core().bytes()
    try Self.withCore(Array(whole.dropLast(100))) { path in
      let memory = try CoreMemory(path: path)
      #expect(memory.isTruncated && memory.bytes(at: 0x2000, count: 4096).count == 1948)
    }
  }

  @Test func otherFilesAreRefused() throws {
    var other = Self.core()
    other.machine = 243
    try Self.withCore(other.bytes()) { path in
      #expect(throws: InspectionError.otherMachine(path: path, machine: 243)) { try CoreMemory(path: path) }
    }
    for bytes in [[], Array("text".utf8), Self.image(buildID: 1)] {
      try Self.withCore(bytes) { path in
        #expect(throws: InspectionError.notACore(path: path)) { try CoreMemory(path: path) }
      }
    }
    #expect(throws: InspectionError.notACore(path: "/dev/null")) { try CoreMemory(path: "/dev/null") }
    #expect(throws: InspectionError.cannotOpen(path: "/none", errno: ENOENT)) { try CoreMemory(path: "/none") }
  }

  @Test(arguments: TestTier.seeds(1..<201))
  func damagedCoresNeverTrapAndAlwaysTerminate(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var core = Self.core()
    core.files = [(0x1000..<0x2000, 0, "/a"), (0x2000..<0x4000, 1, "/b"), (0x9000..<0xA000, 2, "/a")]
    var bytes = core.bytes()
    let headers = 64 + 56 * 4 + 1200
    for _ in 0..<1 + random.next() % 24 {
      let at = Int(random.next() % UInt64(headers))
      bytes[at] = random.oneIn(3) ? 0xFF : UInt8(truncatingIfNeeded: random.next())
    }
    if random.oneIn(4) { bytes.removeLast(Int(random.next() % UInt64(bytes.count))) }
    try Self.withCore(bytes) { path in
      guard let memory = try? CoreMemory(path: path, files: Files(files: ["/a": Self.image(buildID: 1)])) else {
        return
      }
      for mapping in memory.mappings {
        #expect(memory.bytes(at: mapping.range.lowerBound, count: 64).count <= 64)
        #expect(memory.bytes(at: mapping.range.upperBound - 8, count: 64).count <= 64)
      }
      #expect(
        zip(memory.mappings, memory.mappings.dropFirst()).allSatisfy { $0.range.upperBound <= $1.range.lowerBound })
      _ = GlibcHeap(in: memory, threads: memory.threads)
    }
  }
}
