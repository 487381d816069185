// The code that the fuzzer runs on an input. It is compiled into the fuzzer, and into the tests that replay its inputs.

@testable import TraceReading
@testable import TraceReports

// In the fuzzer, the module's sources are part of the fuzzer's own module.
#if canImport(TraceTestSupport)
  import TraceTestSupport
#endif

/// A trace, and perhaps a live file, made from arbitrary bytes.
///
/// The two low bits of the first byte choose the kind of the other bytes:
/// - 0: a trace file.
/// - 1: a live file beside an empty trace. Its magic number, version and trace ID are corrected.
/// - 2: payloads, which are put into chunks with correct checksums.
/// - 3: payloads as in 2, but every second one is in the live file instead.
///
/// The other bits of the first byte choose the header's setting for retains and releases. Five bytes precede each
/// payload: flags (bits 0, 1 and 3: kind, bit 2: compressed), thread, two bytes of length, and one byte of the first
/// time. That byte is bits 12 to 19 of the time. In chunks of a heap image it is bits 48 to 55.
struct FuzzInput {
  let trace: [UInt8]
  let live: [UInt8]?

  private static let traceID: UInt64 = 0x1122_3344_5566_7788

  /// Makes an input of an unmodified trace.
  init(trace: [UInt8]) { (self.trace, live) = (trace, nil) }

  /// Returns nil if there are too few bytes.
  init?(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return nil }
    let rest = bytes.dropFirst()
    var header = TraceHeader()
    header.traceID = Self.traceID
    header.ticksPerSecond = 1_000_000_000
    switch first >> 2 & 3 {
    case 1: header.referenceCounting = .countsOnly
    case 2: header.referenceCounting = .off
    case 3: header.referenceCounting = .unknown(7)
    default: break
    }
    switch first & 3 {
    case 0:
      trace = Array(rest)
      live = nil
    case 1:
      trace = TraceWriter(header: header).bytes
      live = Self.headed(Array(rest))
    case 2:
      guard let sealed = Self.sealed(Self.payloads(rest), header) else { return nil }
      trace = sealed
      live = nil
    default:
      let payloads = Self.payloads(rest)
      let sealedOnes = payloads.indices.filter { $0 % 2 == 0 }.map { payloads[$0] }
      guard let sealed = Self.sealed(sealedOnes, header) else { return nil }
      trace = sealed
      live = Self.slots(payloads.indices.filter { $0 % 2 == 1 }.map { payloads[$0] })
    }
  }

  // MARK: Payloads

  private struct Payload {
    var flags: UInt8
    var thread: UInt32
    var firstTime: UInt64
    var bytes: [UInt8]

    var kind: ChunkKind {
      switch flags & 3 | flags >> 1 & 4 {
      case 0: .definitions
      case 1: .events
      case 2: .closing
      case 4: .snapshot
      case 5: .memory
      case 6: .snapshotEnd
      default: .unknown(9)
      }
    }
  }

  private static func payloads(_ bytes: ArraySlice<UInt8>) -> [Payload] {
    var result: [Payload] = []
    var rest = bytes
    while rest.count >= 5 {
      let head = Array(rest.prefix(5))
      let length = Int(head[2]) | Int(head[3]) << 8
      let body = rest.dropFirst(5).prefix(length)
      result.append(
        Payload(
          flags: head[0], thread: UInt32(head[1]), firstTime: UInt64(head[4]) << (head[0] & 8 == 0 ? 12 : 48),
          bytes: Array(body)))
      rest = rest.dropFirst(5 + body.count)
    }
    return result
  }

  private static func sealed(_ payloads: [Payload], _ header: TraceHeader) -> [UInt8]? {
    var writer = TraceWriter(header: header)
    for payload in payloads {
      do {
        try writer.append(
          kind: payload.kind, thread: payload.thread, payload: payload.bytes, firstTime: payload.firstTime,
          lastTime: payload.firstTime,
          compression: payload.flags & 4 == 0 ? .none : .zstd)
      } catch { return nil }
    }
    return writer.bytes
  }

  // MARK: Live file

  private static let liveMagic: [UInt8] = [0x89, 0x4C, 0x4B, 0x4C, 0x49, 0x56, 0x0D, 0x0A]

  private static func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian, Array.init)
  }

  private static func headed(_ bytes: [UInt8]) -> [UInt8] {
    var result = bytes
    let head = liveMagic + littleEndian(UInt32(1))
    if result.count >= 24 {
      result.replaceSubrange(0..<12, with: head)
      result.replaceSubrange(16..<24, with: littleEndian(traceID))
    }
    return result
  }

  /// Returns the slots of a live file, one for each payload.
  private static func slots(_ payloads: [Payload]) -> [UInt8] {
    let slotHeaderSize = 64
    let slotSize = slotHeaderSize + (payloads.map(\.bytes.count).max() ?? 0)
    var result = liveMagic + littleEndian(UInt32(1)) + littleEndian(UInt32(slotSize)) + littleEndian(traceID)
    result += littleEndian(UInt32(payloads.count))
    result += repeatElement(0, count: 4096 - result.count)
    for payload in payloads {
      let begin = UInt32(slotHeaderSize)
      let end = begin + UInt32(payload.bytes.count)
      let isEvents = payload.flags & 1 != 0
      let start = result.count
      for field in [payload.thread, 1, 0, 0, begin, isEvents ? begin : end, isEvents ? end : begin, 0] as [UInt32] {
        result += littleEndian(field)
      }
      result += littleEndian(payload.firstTime) + littleEndian(begin)
      result += repeatElement(0, count: start + slotHeaderSize - result.count)
      result += payload.bytes
      result += repeatElement(0, count: start + slotSize - result.count)
    }
    return result
  }

  // MARK: Reading

  /// Reads everything in the input, as the commands do, but does not open the files that the trace names. Returns the
  /// number of characters written.
  @discardableResult
  func readEverything(_ policy: ReadingPolicy = ReadingPolicy(isUntrusted: true)) -> Int {
    var written = 0
    for parts in [Set<RecordDump.Part>([.events, .definitions, .chunks, .memory]), []] {
      guard let reader = try? TraceReader(bytes: trace, liveBytes: live, policy: policy) else { return written }
      let dump = RecordDump(reader, parts: parts)
      if parts.isEmpty {
        dump.countingByTime(&written)
      } else {
        // The output is limited, because a few bytes can encode very many words.
        struct Enough: Error {}
        try? dump.write {
          written += $0.utf8.count
          if written > 8 << 20 { throw Enough() }
        }
      }
    }
    // The naming and the layouts include layouts that real types have, and others.
    do {
      return written
        + (try EveryCommand.run(naming: FuzzNaming(), layouts: FuzzLayouts()) {
          try TraceReader(bytes: trace, liveBytes: live, policy: policy)
        })
    } catch {
      fatalError("a command failed: \(error)")
    }
  }
}

extension RecordDump {
  /// Adds the characters of all events, merged by time, to `count`.
  fileprivate func countingByTime(_ count: inout Int) {
    final class Counter { var value = 0 }
    let counter = Counter()
    try? writeEventsByTime { counter.value += $0.utf8.count }
    count += counter.value
  }
}
