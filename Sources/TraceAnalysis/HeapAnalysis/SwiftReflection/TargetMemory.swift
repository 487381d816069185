// The memory of the traced process that reflection can read.

import TraceReading

/// The known bytes of the traced process.
///
/// `SwiftReflection` also calls these functions in a child process, after `fork`. So they must not start threads or
/// wait for other threads.
package protocol TargetMemory {
  /// Copies the bytes from an address on until `buffer` is full. Returns `false` if any byte is unknown.
  func read(_ address: RuntimeAddress, into buffer: UnsafeMutableRawBufferPointer) -> Bool
}

extension TargetMemory {
  /// Returns the 8 bytes at an address; `nil` if they are unknown.
  func word(at address: RuntimeAddress) -> UInt64? { value(at: address, as: UInt64.self) }

  func value<Value: FixedWidthInteger>(at address: RuntimeAddress, as type: Value.Type) -> Value? {
    var value: Value = 0
    let isKnown = withUnsafeMutableBytes(of: &value) { read(address, into: $0) }
    return isKnown ? Value(littleEndian: value) : nil
  }
}

/// Words of memory that were captured while the process was alive.
package protocol CapturedWords {
  /// Returns the word at an address, which must be a multiple of 8; `nil` if it was not captured.
  func word(at address: RuntimeAddress) -> UInt64?
  /// Returns whether memory at the address was captured. In captured memory, a word that was left out counts as 0.
  func covers(_ address: RuntimeAddress) -> Bool
}

/// Memory that combines the files of loaded images with captured words.
///
/// Captured words take precedence over a file, since relocation and the program change the bytes in memory. Bytes of a
/// loaded image beyond its file's contents are 0. `read` is O(bytes), plus a search among the images.
package struct ImageBackedMemory: TargetMemory {
  private let images: ImageContents
  private let captured: any CapturedWords

  package init(images: ImageContents, captured: any CapturedWords) {
    self.images = images
    self.captured = captured
  }

  package func read(_ address: RuntimeAddress, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
    var done = 0
    let start = address.rawValue
    guard !start.addingReportingOverflow(UInt64(buffer.count)).overflow else { return false }
    while done < buffer.count {
      let at = start + UInt64(done)
      let aligned = at & ~7
      let skipped = Int(at - aligned)
      let count = min(8 - skipped, buffer.count - done)
      var word: UInt64 = 0
      if let known = captured.word(at: RuntimeAddress(aligned)) {
        word = known
      } else if let image = images.word(at: RuntimeAddress(aligned)) {
        word = image
      } else if !captured.covers(RuntimeAddress(at)) {
        return false
      }
      withUnsafeBytes(of: word.littleEndian) { bytes in
        for index in 0..<count { buffer[done + index] = bytes[skipped + index] }
      }
      done += count
    }
    return true
  }
}
