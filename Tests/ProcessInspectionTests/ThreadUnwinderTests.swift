// Unwinding the stacks of threads over memory with arbitrary contents.

import Glibc
import TestRequirements
import Testing
import TraceReading
import TraceSymbolication
import TraceTestSupport

@testable import ProcessInspection

@Suite struct ThreadUnwinderTests {
  /// Returns a thread with a given instruction pointer, stack pointer and base pointer.
  private static func thread(at address: UInt64, stack: UInt64, base: UInt64 = 0) -> InspectedThread {
    var registers = [UInt64](repeating: 0, count: RegisterLayout(.x86_64).count)
    (registers[16], registers[19], registers[4]) = (address, stack, base)
    return InspectedThread(threadID: 1, registers: registers)
  }

  private static func address(of symbol: String) throws -> UInt64 {
    UInt64(UInt(bitPattern: try #require(dlsym(nil, symbol))))
  }

  @Test(arguments: [false, true]) func codeWithoutRulesEndsTheStack(usesTables: Bool) throws {
    let memory = try LiveProcessMemory(processID: getpid())
    let unwinder = ThreadUnwinder(memory, images: MappedImages.images(in: memory), usesTables: usesTables)
    let stack = unwinder.stack(of: Self.thread(at: 0x10, stack: 0x7000))
    #expect(stack.frames.map(\.key.address.rawValue) == [0x10] && stack.end == .noRules)
    #expect(stack.frames[0].key.isExact)
  }

  @Test(arguments: [false, true]) func callerIsFoundByTheRulesInMemory(usesTables: Bool) throws {
    let memory = try LiveProcessMemory(processID: getpid())
    let unwinder = ThreadUnwinder(memory, images: MappedImages.images(in: memory), usesTables: usesTables)
    // At the first instruction of a function, the return address is at the stack pointer.
    let function = try Self.address(of: "qsort_r")
    let caller = try Self.address(of: "getenv") + 1
    let words = UnsafeMutablePointer<UInt64>.allocate(capacity: 64)
    defer { words.deallocate() }
    words.initialize(repeating: 0, count: 64)
    words[0] = caller
    let top = UInt64(UInt(bitPattern: words))
    let stack = unwinder.stack(of: Self.thread(at: function, stack: top))
    #expect(stack.frames.prefix(2).map(\.key.address.rawValue) == [function, caller])
    #expect(stack.frames.prefix(2).map(\.stackPointer) == [top, top + 8])
    #expect(stack.frames.count >= 2 && !stack.frames[1].key.isExact)
  }

  @Test func everyKindOfMemoryGivesEqualFrames() throws {
    let memory = try LiveProcessMemory(processID: getpid())
    let images = MappedImages.images(in: memory)
    let codes = images.compactMap { image in
      image.unwindTable.map {
        StackUnwinder.Code(
          range: image.image.range.lowerBound.rawValue..<image.image.range.upperBound.rawValue, unwindTable: $0)
      }
    }
    let libc = try #require(images.first { $0.image.path.contains("libc.so") }).image.range
    // Memory is known by whole pages.
    let page = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 4096)
    defer { page.deallocate() }
    let words = page.initializeMemory(as: UInt64.self, repeating: 0, count: 512)
    let (function, caller) = (try Self.address(of: "qsort_r"), try Self.address(of: "getenv") + 1)
    words[0] = caller
    let top = UInt64(UInt(bitPattern: page))
    // The stack, and the mappings of the C library.
    let kept = memory.mappings.filter { libc.contains(RuntimeAddress($0.range.lowerBound)) && $0.isReadable }.map {
      (range: $0.range, bytes: UnsafeRawPointer(bitPattern: UInt($0.range.lowerBound))!)
    }
    let stack = (range: top..<top + 4096, bytes: UnsafeRawPointer(page))
    let pieces = (kept + [stack]).sorted { $0.range.lowerBound < $1.range.lowerBound }
    for kind: UnwoundMemory in [.process(getpid()), .kept(pieces)] {
      let unwinder = StackUnwinder(codes, kind, processor: .own)
      var registers = StackUnwinder.Registers()
      #expect(unwinder.stack(registers).frames.isEmpty && unwinder.stack(registers).end == .unsound)
      registers[StackUnwinder.Registers.programCounter(.own)] = function
      registers[StackUnwinder.Registers.stackPointer(.own)] = top
      #expect(registers[StackUnwinder.Registers.stackPointer(.own)] == top && registers[0] == nil)
      let stack = unwinder.stack(registers)
      #expect(stack.frames.prefix(2).map(\.key.address.rawValue) == [function, caller], "\(kind)")
      #expect(stack.frames.prefix(2).map(\.stackPointer) == [top, top + 8], "\(kind)")
    }
  }

  /// The memory of this process, with changes to some bytes of one image's unwind rules.
  private struct DamagedMemory: ProcessMemory {
    let whole: LiveProcessMemory
    var mappings: [MemoryMapping] { whole.mappings }
    let pieces: [(range: Range<UInt64>, bytes: UnsafeRawPointer)]

    func read(_ address: RuntimeAddress, into buffer: UnsafeMutableRawBufferPointer) -> Int {
      whole.read(address, into: buffer)
    }

    var unwoundMemory: UnwoundMemory { .kept(pieces) }
  }

  @Test(arguments: TestTier.seeds(1..<41))
  func damagedRulesAndStacksNeverTrapAndAlwaysTerminate(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let whole = try LiveProcessMemory(processID: getpid())
    let images = MappedImages.images(in: whole)
    let libc = try #require(images.first { $0.image.path.contains("libc.so") })
    let table = try #require(libc.unwindTable)
    let mapping = try #require(whole.mappings.mapping(at: table))
    let rules = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Int(mapping.range.upperBound - mapping.range.lowerBound), alignment: 16)
    defer { rules.deallocate() }
    #expect(whole.read(RuntimeAddress(mapping.range.lowerBound), into: rules) == rules.count)
    // The changes begin at the table, because the bytes before it are not read.
    let first = Int(table - mapping.range.lowerBound)
    for _ in 0..<2000 {
      let at = first + Int(random.next() % UInt64(rules.count - first))
      rules[at] = random.oneIn(3) ? 0xFF : UInt8(truncatingIfNeeded: random.next())
    }
    let words = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 4096)
    defer { words.deallocate() }
    let code = libc.image.range
    let size = code.upperBound.rawValue - code.lowerBound.rawValue
    let stackStart: UInt64 = 0x1000_0000
    for at in stride(from: 0, to: words.count, by: 8) {
      let word =
        random.oneIn(2)
        ? code.lowerBound.rawValue + random.next() % size : stackStart + random.next() % UInt64(words.count)
      words.storeBytes(of: word, toByteOffset: at, as: UInt64.self)
    }
    let memory = DamagedMemory(
      whole: whole,
      pieces: [
        (stackStart..<stackStart + UInt64(words.count), UnsafeRawPointer(words.baseAddress!)),
        (mapping.range, UnsafeRawPointer(rules.baseAddress!)),
      ])
    let unwinder = ThreadUnwinder(memory, images: images)
    for _ in 0..<50 {
      let stack = unwinder.stack(
        of: Self.thread(
          at: code.lowerBound.rawValue + random.next() % size, stack: stackStart + 8 * (random.next() % 1024),
          base: stackStart + 8 * (random.next() % 2048)))
      #expect(stack.frames.count <= 4096)
    }
  }
}
