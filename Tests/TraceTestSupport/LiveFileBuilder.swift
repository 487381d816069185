// Builds live files for tests, byte by byte according to docs/engineering/trace-format.md.

import TraceReading

/// Builds a live file. Fields are public and unchecked, so that tests can make hostile files.
package struct LiveFileBuilder {
  package struct Slot {
    package var thread: UInt32
    package var osThread: UInt32 = 0
    package var definitionSequence: UInt32 = 0
    package var eventSequence: UInt32 = 0
    package var definitions: [UInt8] = []
    package var events: [UInt8] = []
    package var firstTime: UInt64 = 0
    package var eventCount: UInt32 = 0
    /// Values to write in place of the true offsets: start and used bytes of definitions, and start and used bytes of
    /// events.
    package var offsets: [UInt32]?

    package init(thread: UInt32) { self.thread = thread }
  }

  package var traceID: UInt64
  package var slotSize: UInt32 = 4096
  package var slotCount: UInt32?
  package var version = TraceHeader().version
  /// The field of the header. Slots follow at this offset, or at 4,096 if it is 0 or too small.
  package var headerSize: UInt32 = 0
  package var slots: [Slot] = []

  package init(traceID: UInt64) { self.traceID = traceID }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = [0x89, 0x4C, 0x4B, 0x4C, 0x49, 0x56, 0x0D, 0x0A]
    func put(_ value: UInt32) {
      for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(shift))) }
    }
    func put(_ value: UInt64) {
      for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift))) }
    }
    put(version)
    put(slotSize)
    put(traceID)
    put(slotCount ?? UInt32(slots.count))
    put(UInt32(0))
    bytes.append(contentsOf: repeatElement(0, count: 104 - bytes.count))
    put(headerSize)
    let firstSlot = [16384, 65536].contains(headerSize) ? Int(headerSize) : 4096
    bytes.append(contentsOf: repeatElement(0, count: firstSlot - bytes.count))
    for slot in slots {
      let start = bytes.count
      let definitionStart: UInt32 = 64
      let eventStart = definitionStart + UInt32(slot.definitions.count)
      let offsets = slot.offsets ?? [definitionStart, eventStart, eventStart, eventStart + UInt32(slot.events.count)]
      for value in [slot.thread, slot.osThread, slot.definitionSequence, slot.eventSequence] { put(value) }
      for value in [offsets[0], offsets[1], offsets[3], slot.eventCount] { put(value) }
      put(slot.firstTime)
      for value in [offsets[2], 0, 0, 0, 0, 0] as [UInt32] { put(value) }
      bytes += slot.definitions + slot.events
      bytes.append(contentsOf: repeatElement(0, count: max(0, start + Int(slotSize) - bytes.count)))
    }
    return bytes
  }
}
