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

  private let unwinder: StackUnwinder
  /// Whether the unwinder knows the registers of the processor that the image is from.
  private let isKnownProcessor: Bool

  /// The DWARF numbers of the registers that a heap image holds for each thread, in the order of `lt_snapshot_thread`:
  /// rax, rbx, rcx, rdx, rsi, rdi, rbp, r8 to r15. Source: System V ABI, AMD64 supplement, figure 3.36.
  private static let recorded = [0, 3, 2, 1, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15]

  /// - Parameter contents: the files of the loaded images. The unwind tables come from these files.
  /// - Parameter isArm64: whether the image is from arm64.
  package init(_ contents: ImageContents, image: HeapImage, isArm64: Bool = false) {
    isKnownProcessor = !isArm64
    let memory = ImageBackedMemory(images: contents, captured: Words(image: image))
    let codes = contents.images.compactMap { image in
      image.unwindTable.map {
        StackUnwinder.Code(
          range: image.loaded.range.lowerBound.rawValue..<image.loaded.range.upperBound.rawValue, unwindTable: $0)
      }
    }
    unwinder = StackUnwinder(codes, .function(memory.read))
  }

  /// Returns the code addresses of a thread's active functions, from the innermost to the thread's start function.
  /// `nil` unless all functions are found. For callers, the addresses are return addresses.
  package func addresses(of thread: SnapshotThread) -> [UInt64]? {
    guard isKnownProcessor, let stackPointer = thread.stackPointer else { return nil }
    var registers = StackUnwinder.Registers()
    // A register that does not look like a pointer is recorded as 0.
    for (number, value) in zip(Self.recorded, thread.registers) where value != 0 { registers[number] = value }
    registers[StackUnwinder.Registers.stackPointer] = stackPointer
    registers[StackUnwinder.Registers.programCounter] = thread.instructionPointer
    let stack = unwinder.stack(registers)
    return stack.end == .complete ? stack.frames.map(\.key.address.rawValue) : nil
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
