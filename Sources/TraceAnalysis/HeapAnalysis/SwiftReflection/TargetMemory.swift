// The memory of the traced process that reflection can read.

import TraceReading

/// Bytes of the traced process, as far as they are known.
///
/// `SwiftReflection` calls it in a child process too, a copy made by `fork`: it must neither wait for other threads nor
/// start any.
package protocol TargetMemory {
  /// Copies as many bytes as `buffer` holds; `false` if any of them is not known.
  func read(_ address: RuntimeAddress, into buffer: UnsafeMutableRawBufferPointer) -> Bool
}

extension TargetMemory {
  /// The 8 bytes at an address; `nil` if they are not known.
  func word(at address: RuntimeAddress) -> UInt64? { value(at: address, as: UInt64.self) }

  func value<Value: FixedWidthInteger>(at address: RuntimeAddress, as type: Value.Type) -> Value? {
    var value: Value = 0
    let isKnown = withUnsafeMutableBytes(of: &value) { read(address, into: $0) }
    return isKnown ? Value(littleEndian: value) : nil
  }
}

/// Words of memory that were captured while the process was alive.
package protocol CapturedWords {
  /// The word at an address that is a multiple of 8; `nil` if it was not captured.
  func word(at address: RuntimeAddress) -> UInt64?
  /// Returns whether memory at the address was read, so that a word that was not captured counts as 0.
  func covers(_ address: RuntimeAddress) -> Bool
}

/// Memory put together from image files, and from captured words where there are some.
///
/// An image's bytes come from its file, or are 0 beyond the file's contents. Captured words take precedence, since
/// relocation and the program change the bytes. Reading is O(bytes), plus a search among the images.
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
