// The unwind table of a loaded image: which instructions describe the frame of the function at an address.

import TraceReading

/// The unwind information of one function, from `.eh_frame`. Source: Linux Standard Base 5.0, "Exception Frames", and
/// DWARF 4, 6.4.
struct UnwindEntry {
  /// The addresses of the function's code.
  var code: Range<UInt64>
  /// The addresses of the instructions that all functions of this kind begin with, and of the function's own.
  var initialInstructions: Range<UInt64>
  var instructions: Range<UInt64>
  var codeAlignment: UInt64
  var dataAlignment: Int64
  /// The DWARF number of the register that holds the return address.
  var returnRegister: UInt64
  /// True for the frame that the kernel makes for a signal handler.
  var isSignalFrame = false
  /// The encoding of addresses in the instructions.
  var pointerEncoding: UInt8 = 0
}

/// The unwind table of one loaded image.
struct UnwindTable {
  let read: UnwindCursor.Read
  /// The address of `.eh_frame_hdr`.
  let header: UInt64
  /// The image's address range.
  let image: Range<UInt64>

  private struct Rows {
    var start: UInt64
    var count: UInt64
  }

  /// The header has a sorted table of pairs of 4 bytes: a function's address and its entry's address, both relative to
  /// the header.
  private static let sortedPairs: UInt8 = 0x3B
  private static let rowSize: UInt64 = 8
  private static let longestEntry: UInt64 = 1 << 20

  /// The result of a search.
  enum Found {
    case entry(UnwindEntry)
    /// No entry describes the address. The entry before it ends at `lowerBound`.
    case none(lowerBound: UInt64)
  }

  /// Returns the entry of the function at an address. Logarithmic in the entries of the table.
  func entry(at address: UInt64) throws(UnwindFailure) -> Found {
    let rows = try rows()
    var low: UInt64 = 0
    var high = rows.count
    while low < high {
      let middle = (low + high) / 2
      if try row(middle, of: rows).function <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return .none(lowerBound: image.lowerBound) }
    let entry = try entry(from: row(low - 1, of: rows).entry)
    if entry.code.contains(address) { return .entry(entry) }
    return .none(lowerBound: min(max(entry.code.upperBound, image.lowerBound), address))
  }

  private func cursor(_ address: UInt64) -> UnwindCursor {
    UnwindCursor(read: read, address: address, end: address.addingReportingOverflow(Self.longestEntry).partialValue)
  }

  private func rows() throws(UnwindFailure) -> Rows {
    var cursor = cursor(header)
    guard try cursor.number(UInt8.self) == 1 else { throw UnwindFailure() }
    let (frames, counts) = (try cursor.number(UInt8.self), try cursor.number(UInt8.self))
    guard try cursor.number(UInt8.self) == Self.sortedPairs else { throw UnwindFailure() }
    _ = try cursor.pointer(encoding: frames)
    guard let count = try cursor.pointer(encoding: counts), count <= UInt64(UInt32.max) else { throw UnwindFailure() }
    return Rows(start: cursor.address, count: count)
  }

  private func row(_ index: UInt64, of rows: Rows) throws(UnwindFailure) -> (function: UInt64, entry: UInt64) {
    var cursor = cursor(rows.start &+ index * Self.rowSize)
    let (function, entry) = (try cursor.number(Int32.self), try cursor.number(Int32.self))
    return (header &+ UInt64(bitPattern: Int64(function)), header &+ UInt64(bitPattern: Int64(entry)))
  }

  /// Returns the end of the entry that begins at the cursor, and moves the cursor behind the entry's length.
  private func end(of cursor: inout UnwindCursor) throws(UnwindFailure) -> UInt64 {
    let length = UInt64(try cursor.number(UInt32.self))
    // A length of 2³² − 1 means a table of 64 bits. No compiler writes one for this section.
    guard length > 0, length <= Self.longestEntry else { throw UnwindFailure() }
    return cursor.address &+ length
  }

  private func entry(from address: UInt64) throws(UnwindFailure) -> UnwindEntry {
    var cursor = cursor(address)
    let end = try end(of: &cursor)
    let place = cursor.address
    let distance = UInt64(try cursor.number(UInt32.self))
    var (entry, hasSize) = try commonPart(at: place &- distance)
    guard let start = try cursor.pointer(encoding: entry.pointerEncoding),
      let size = try cursor.pointer(encoding: entry.pointerEncoding & 0x0F),
      !start.addingReportingOverflow(size).overflow
    else { throw UnwindFailure() }
    entry.code = start..<start + size
    if hasSize { try cursor.skip(cursor.unsigned()) }
    guard cursor.address <= end else { throw UnwindFailure() }
    entry.instructions = cursor.address..<end
    return entry
  }

  /// Reads what several functions have in common. `hasSize`: the functions' entries have a size of additional data.
  private func commonPart(at address: UInt64) throws(UnwindFailure) -> (entry: UnwindEntry, hasSize: Bool) {
    var cursor = cursor(address)
    let end = try end(of: &cursor)
    guard try cursor.number(UInt32.self) == 0 else { throw UnwindFailure() }
    let version = try cursor.number(UInt8.self)
    guard version == 1 || version == 3 else { throw UnwindFailure() }
    var letters: [UInt8] = []
    while true {
      let letter = try cursor.number(UInt8.self)
      if letter == 0 { break }
      letters.append(letter)
      guard letters.count <= 16 else { throw UnwindFailure() }
    }
    let codeAlignment = try cursor.unsigned()
    let dataAlignment = try cursor.signed()
    let returnRegister = version == 1 ? UInt64(try cursor.number(UInt8.self)) : try cursor.unsigned()
    guard returnRegister < UInt64(UnwindRow.registerLimit) else { throw UnwindFailure() }
    var entry = UnwindEntry(
      code: 0..<0, initialInstructions: 0..<0, instructions: 0..<0, codeAlignment: codeAlignment,
      dataAlignment: dataAlignment, returnRegister: returnRegister)
    let hasSize = letters.first == UInt8(ascii: "z")
    if hasSize {
      let size = try cursor.unsigned()
      let afterData = cursor.address.addingReportingOverflow(size)
      guard !afterData.overflow, afterData.partialValue <= end else { throw UnwindFailure() }
      for letter in letters.dropFirst() {
        switch letter {
        case UInt8(ascii: "R"): entry.pointerEncoding = try cursor.number(UInt8.self)
        case UInt8(ascii: "L"): _ = try cursor.number(UInt8.self)
        // The address of a function for exceptions. Its value does not matter, so neither does an indirection.
        case UInt8(ascii: "P"): _ = try cursor.pointer(encoding: cursor.number(UInt8.self) & 0x7F)
        case UInt8(ascii: "S"): entry.isSignalFrame = true
        // The key that signs return addresses, and tagged stack memory on arm64. Both have no data.
        case UInt8(ascii: "B"), UInt8(ascii: "G"): break
        default: throw UnwindFailure()
        }
      }
      cursor.address = afterData.partialValue
    } else if !letters.isEmpty {
      throw UnwindFailure()
    }
    guard cursor.address <= end else { throw UnwindFailure() }
    entry.initialInstructions = cursor.address..<end
    return (entry, hasSize)
  }
}
