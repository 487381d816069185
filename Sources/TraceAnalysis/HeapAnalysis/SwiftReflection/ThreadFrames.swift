// The active functions of a heap image's threads.

import CElfutils
import TraceReading
import TraceSymbolication

/// Unwinds the stacks of a heap image's threads. For one thread at a time.
package final class ThreadFrames {
  /// The words of the heap image. A missing word is unknown: it was 0, or no pointer.
  private struct Words: CapturedWords {
    let image: HeapImage
    func word(at address: RuntimeAddress) -> UInt64? { image.word(at: address.rawValue) }
    func covers(_ address: RuntimeAddress) -> Bool { false }
  }

  private let unwinder: TableUnwinder
  private let processor: Processor

  /// The DWARF numbers of the registers that a heap image holds for each thread, in the order of `lt_snapshot_thread`.
  /// x86-64: rax, rbx, rcx, rdx, rsi, rdi, rbp, r8 to r15. arm64: x0 to x30.
  private static let recordedOfX86: [UInt64] = [0, 3, 2, 1, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15]
  private static let recordedOfArm64: [UInt64] = Array(0...30)

  /// - Parameter contents: the files of the loaded images. The unwind tables come from these files.
  /// - Parameter processor: the processor of the process. This machine may have another one.
  package init(_ contents: ImageContents, image: HeapImage, processor: Processor = .x86_64) {
    self.processor = processor
    let memory = ImageBackedMemory(images: contents, captured: Words(image: image))
    let codes = contents.images.compactMap { image in
      image.unwindTable.map {
        StackUnwinder.Code(
          range: image.loaded.range.lowerBound.rawValue..<image.loaded.range.upperBound.rawValue, unwindTable: $0)
      }
    }
    unwinder = TableUnwinder(codes, read: memory.read)
  }

  /// Returns the code addresses of a thread's active functions, from the innermost to the thread's start function.
  /// `nil` unless all functions are found. For callers, the addresses are return addresses.
  package func addresses(of thread: SnapshotThread) -> [UInt64]? {
    guard let stackPointer = thread.stackPointer else { return nil }
    var registers = UnwindRegisters(processor)
    // A register that does not look like a pointer is recorded as 0.
    let recorded = processor == .arm64 ? Self.recordedOfArm64 : Self.recordedOfX86
    for (number, value) in zip(recorded, thread.registers) where value != 0 { registers[number] = value }
    registers.stackPointer = stackPointer
    registers.programCounter = thread.instructionPointer
    let stack = unwinder.stack(registers)
    return stack.end == .complete ? stack.addresses : nil
  }
}

extension ImageContents.Image {
  /// The address of the loaded image's `.eh_frame_hdr` in the process; nil if the image has none.
  fileprivate var unwindTable: UInt64? {
    var count = 0
    guard elf_getphdrnum(file.handle, &count) == 0 else { return nil }
    var header = GElf_Phdr()
    for index in 0..<count {
      guard gelf_getphdr(file.handle, Int32(clamping: index), &header) != nil else { return nil }
      if header.p_type == PT_GNU_EH_FRAME { return header.p_vaddr &+ loaded.loadBias }
    }
    return nil
  }
}
