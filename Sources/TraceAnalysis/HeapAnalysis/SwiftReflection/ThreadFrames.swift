// The active functions of a heap image's threads.

import TraceReading
import TraceSymbolication

/// Unwinds the stacks of a heap image's threads. For one thread at a time.
package final class ThreadFrames {
  private let contents: ImageContents
  private let image: HeapImage
  private let processor = FrameRegisters.x86_64
  private var information: [Int: CallFrameInformation?] = [:]

  /// The most frames of one thread.
  private static let depthLimit = 1024

  /// - Parameter contents: the files of the images that were loaded.
  package init(_ contents: ImageContents, image: HeapImage) {
    self.contents = contents
    self.image = image
  }

  /// Returns the code addresses of a thread's active functions, from the innermost to the start function of the thread;
  /// `nil` unless all functions are found. The address of a caller is the return address.
  package func addresses(of thread: SnapshotThread) -> [UInt64]? {
    guard let stackPointer = thread.stackPointer else { return nil }
    var registers = CallFrameInformation.Registers(processor)
    // A register that does not look like a pointer is recorded as 0.
    for (number, value) in zip(processor.recorded, thread.registers) where value != 0 { registers[number] = value }
    registers[processor.stackPointer] = stackPointer
    registers[processor.instructionPointer] = thread.instructionPointer
    var addresses: [UInt64] = []
    while addresses.count < Self.depthLimit, let address = registers[processor.instructionPointer] {
      addresses.append(address)
      // Look up the call, not the return address: a call may be a function's last instruction, and the return address
      // then lies in another function.
      let place = addresses.count == 1 ? address : address &- 1
      guard let index = contents.images.firstIndex(where: { $0.loaded.range.contains(RuntimeAddress(place)) }),
        let information = information(of: index)
      else {
        return nil
      }
      let inFile = place &- contents.images[index].loaded.loadBias
      switch information.step(at: inFile, registers, processor, word: { [image] in image.word(at: $0) }) {
      case .outermost: return addresses
      case .caller(let next): registers = next
      case nil: return nil
      }
    }
    return nil
  }

  private func information(of index: Int) -> CallFrameInformation? {
    if let known = information[index] { return known }
    let found = CallFrameInformation(contents.images[index].file)
    information[index] = .some(found)
    return found
  }
}
