// Events and definitions that the threads of a process recorded after their last sealed chunk.

import CTraceFormat
import Glibc

/// A copy of a payload in a slot of the live file. A process that is still running cannot change the copy.
struct LivePayload {
  var kind: ChunkKind
  var thread: UInt32
  var osThread: UInt32
  var sequence: UInt32
  var firstTime: UInt64
  var lastTime: UInt64
  var eventCount: UInt64
  /// Offset of the slot in the live file.
  var offset: UInt64
  var bytes: [UInt8]
}

extension lt_live_header {
  /// Offset of the first slot. Nil if the header's size is not the page size of any kernel.
  package var firstSlot: UInt64? {
    if headerSize == 0 { return UInt64(LT_LIVE_HEADER_SIZE) }
    return TraceHeader.pageSizes.contains(headerSize) ? UInt64(headerSize) : nil
  }
}

/// The readable slots of a live file. Every field is treated as hostile.
struct LiveFile {
  private(set) var payloads: [LivePayload] = []
  private(set) var diagnostics: [TraceDiagnostic] = []

  /// True if the file belongs to another trace, or cannot be read.
  var isIgnored: Bool { diagnostics.contains { if case .liveFileIgnored = $0.kind { true } else { false } } }

  private init() {}

  /// Reads the file at `path`. Nil if there is none. A file that cannot be read causes a diagnostic.
  init?(path: String, traceID: UInt64) {
    do {
      let source = try ByteSource(path: path)
      self.init(source: source, traceID: traceID)
    } catch .system(_, _, let code) where code == ENOENT {
      return nil
    } catch {
      self.init()
      diagnostics.append(.init(.liveFileIgnored(reason: "\(error)"), at: .live(FileOffset(0))))
    }
  }

  /// Reads the slots, if the file belongs to the trace with `traceID`. Takes the memory of the used bytes in the slots.
  init(source: ByteSource, traceID: UInt64) {
    func ignore(_ reason: String) {
      diagnostics.append(.init(.liveFileIgnored(reason: reason), at: .live(FileOffset(0))))
    }
    guard let page = source.bytes(at: 0, count: MemoryLayout<lt_live_header>.size) else {
      ignore("it ends inside its header")
      return
    }
    let header = page.withUnsafeBytes { $0.loadUnaligned(as: lt_live_header.self) }
    guard page.starts(with: FormatMagic.live) else {
      ignore("it does not begin like a live file")
      return
    }
    guard (UInt32(LT_FORMAT_OLDEST_VERSION)...UInt32(LT_FORMAT_VERSION)).contains(header.version) else {
      ignore("its version is \(header.version), this reader knows \(LT_FORMAT_OLDEST_VERSION) to \(LT_FORMAT_VERSION)")
      return
    }
    guard header.traceID == traceID else {
      ignore("it belongs to another trace")
      return
    }
    let slotHeaderSize = UInt64(MemoryLayout<lt_live_slot>.size)
    let slotSize = UInt64(header.slotSize)
    guard slotSize > slotHeaderSize else {
      ignore("its slots are said to have \(slotSize) bytes")
      return
    }
    guard let firstSlot = header.firstSlot else {
      ignore("its header is said to have \(header.headerSize) bytes")
      return
    }
    // If the file ends inside a slot, the part that exists is read.
    var offset = firstSlot
    var index: UInt32 = 0
    while index < header.slotCount, offset < source.size, source.size - offset >= slotHeaderSize {
      readSlot(at: offset, slotSize: slotSize, source: source)
      offset += slotSize
      index += 1
    }
  }

  private mutating func readSlot(at offset: UInt64, slotSize: UInt64, source: ByteSource) {
    // A running process may seal and reuse the slot between two reads. If so, read the slot again.
    for attempt in 1...4 {
      guard let before = Self.slot(at: offset, source) else { return }
      guard before.thread != 0 else { return }
      let found = copies(of: before, at: offset, slotSize: slotSize, source: source)
      guard let after = Self.slot(at: offset, source) else { return }
      if attempt == 4
        || (after.definitionSequence == before.definitionSequence && after.eventSequence == before.eventSequence
          && after.thread == before.thread)
      {
        payloads += found.payloads
        for reason in found.damage where diagnostics.count <= TraceDiagnostics.limit {
          diagnostics.append(.init(.damagedSlot(reason: reason), at: .live(FileOffset(offset))))
        }
        return
      }
    }
  }

  private static func slot(at offset: UInt64, _ source: ByteSource) -> lt_live_slot? {
    source.bytes(at: offset, count: MemoryLayout<lt_live_slot>.size)?.withUnsafeBytes {
      $0.loadUnaligned(as: lt_live_slot.self)
    }
  }

  private func copies(
    of slot: lt_live_slot, at offset: UInt64, slotSize: UInt64, source: ByteSource
  ) -> (payloads: [LivePayload], damage: [String]) {
    var payloads: [LivePayload] = []
    var damage: [String] = []
    func add(_ kind: ChunkKind, _ start: UInt32, _ used: UInt32, _ sequence: UInt32) {
      if start == used { return }
      guard start >= MemoryLayout<lt_live_slot>.size, start <= used, UInt64(used) <= slotSize else {
        damage.append("\(kind.name) are said to be at \(start) to \(used) of a slot of \(slotSize) bytes")
        return
      }
      let claimed = UInt64(used - start)
      guard claimed <= TraceChunk.maximumRawSize else {
        damage.append("\(kind.name) are said to have \(claimed) bytes")
        return
      }
      let present = source.size - min(source.size, offset + UInt64(start))
      let count = Int(min(claimed, present))
      guard count > 0, let bytes = source.bytes(at: offset + UInt64(start), count: count) else {
        damage.append("the file ends before its \(kind.name)")
        return
      }
      if UInt64(count) < claimed { damage.append("the file ends inside its \(kind.name)") }
      payloads.append(
        LivePayload(
          kind: kind, thread: slot.thread, osThread: slot.osThread, sequence: sequence,
          firstTime: kind == .events ? slot.firstTime : 0, lastTime: kind == .events ? slot.firstTime : 0,
          eventCount: kind == .events ? UInt64(slot.eventCount) : 0, offset: offset, bytes: bytes))
    }
    add(.definitions, slot.definitionStart, slot.definitionUsed, slot.definitionSequence)
    add(.events, slot.eventStart, slot.eventUsed, slot.eventSequence)
    return (payloads, damage)
  }
}
