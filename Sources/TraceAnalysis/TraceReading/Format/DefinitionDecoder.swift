// Decoding the definition payloads of a trace.

import CTraceFormat

/// One decoded definition record.
package enum Definition: Hashable, Sendable {
  case type(TraceType)
  case imageLoaded(LoadedImage, time: UInt64)
  case imageUnloaded(first: RuntimeAddress, end: RuntimeAddress, time: UInt64)
  case clock(ClockSample)
  case memory(MemorySample)
  case process(ProcessRecord)
  case pause(PauseRecord)
  case thread(ThreadRecord)
  case warning(String)
  case threadStack(ThreadStack)
  case allocator(AllocatorRecord)
  case residence(ResidenceRecord)
  case sampleTotals(SampleTotals)
  case sampledSite(SampledSite)
  case limit(ReachedLimit)
  case unknown(kind: UInt8, size: Int)
}

/// Decodes the records of one payload in order.
struct DefinitionDecoder {
  enum Step {
    case definition(Definition)
    /// The record's kind and length are sound, but its fields do not fit the length.
    case damagedRecord(kind: UInt8)
    case end
    /// The payload ends inside a record.
    case damaged
  }

  private var cursor: ByteCursor
  private let start: UnsafePointer<UInt8>
  private(set) var recordCount = 0
  /// The offset of the latest record in the payload.
  private(set) var recordOffset = 0

  init(_ payload: PayloadBuffer) {
    start = UnsafePointer(payload.start)
    cursor = ByteCursor(start, count: payload.count)
  }

  mutating func next() -> Step {
    recordOffset = cursor.position - start
    guard let kind = cursor.byte() else { return .end }
    guard let length = cursor.varint(), let payload = cursor.part(length) else { return .damaged }
    recordCount += 1
    guard let definition = Self.decode(kind, payload) else { return .damagedRecord(kind: kind) }
    return .definition(definition)
  }

  private static func decode(_ kind: UInt8, _ payload: ByteCursor) -> Definition? {
    var p = payload
    switch Int(kind) {
    case Int(LT_DEF_TYPE):
      guard let id = p.varint(), id > 0, let id = UInt32(exactly: id), let metadata = p.varint(), let kind = p.varint(),
        let descriptor = p.varint(), let name = p.string(), let superclass = p.varint(),
        let superclass = UInt32(exactly: superclass)
      else { return nil }
      return .type(
        TraceType(
          id: id, metadata: RuntimeAddress(metadata), kind: .init(rawValue: kind),
          descriptor: RuntimeAddress(descriptor), name: name,
          superclass: superclass))
    case Int(LT_DEF_IMAGE_LOADED):
      guard let bias = p.varint(), let first = p.varint(), let end = p.varint(), first <= end, let time = p.varint(),
        let buildID = p.bytes(), let path = p.string()
      else { return nil }
      return .imageLoaded(
        LoadedImage(path: path, buildID: buildID, loadBias: bias, range: RuntimeAddress(first)..<RuntimeAddress(end)),
        time: time)
    case Int(LT_DEF_IMAGE_UNLOADED):
      guard let first = p.varint(), let end = p.varint(), let time = p.varint() else { return nil }
      return .imageUnloaded(first: RuntimeAddress(first), end: RuntimeAddress(end), time: time)
    case Int(LT_DEF_CLOCK):
      guard let time = p.varint(), let monotonic = p.varint() else { return nil }
      return .clock(ClockSample(time: time, monotonic: monotonic, boot: p.varint()))
    case Int(LT_DEF_MEMORY):
      guard let time = p.varint(), let resident = p.varint(), let recorder = p.varint(), let peak = p.varint() else {
        return nil
      }
      return .memory(MemorySample(time: time, resident: resident, recorder: recorder, peakResident: peak))
    case Int(LT_DEF_PROCESS):
      guard let executable = p.string(), let flags = p.varint() else { return nil }
      return .process(ProcessRecord(executable: executable, flags: flags))
    case Int(LT_DEF_PAUSE):
      guard let kind = p.varint(), let time = p.varint() else { return nil }
      switch Int(truncatingIfNeeded: kind) {
      case Int(LT_PAUSE_BEGIN): return .pause(PauseRecord(begins: true, time: time))
      case Int(LT_PAUSE_END): return .pause(PauseRecord(begins: false, time: time))
      default: return nil
      }
    case Int(LT_DEF_THREAD):
      guard let thread = p.varint(), let thread = UInt32(exactly: thread), let osThread = p.varint(),
        let time = p.varint()
      else { return nil }
      return .thread(ThreadRecord(thread: thread, osThread: osThread, time: time))
    case Int(LT_DEF_WARNING):
      guard let text = p.string() else { return nil }
      return .warning(text)
    case Int(LT_DEF_THREAD_STACK): return ThreadStack(decoding: p).map { .threadStack($0) }
    case Int(LT_DEF_ALLOCATOR): return AllocatorRecord(&p).map { .allocator($0) }
    case Int(LT_DEF_RESIDENCE):
      guard let time = p.varint(), let anonymous = p.varint(), let other = p.varint(), let huge = p.varint(),
        let swapped = p.varint()
      else { return nil }
      return .residence(
        ResidenceRecord(time: time, anonymous: anonymous, other: other, hugePages: huge, swapped: swapped))
    case Int(LT_DEF_SAMPLE_TOTALS): return SampleTotals(&p).map { .sampleTotals($0) }
    case Int(LT_DEF_SAMPLED_SITE): return SampledSite(&p).map { .sampledSite($0) }
    case Int(LT_DEF_LIMIT): return ReachedLimit(&p).map { .limit($0) }
    default:
      return .unknown(kind: kind, size: payload.remaining)
    }
  }
}

extension Definition {
  var isImage: Bool { if case .imageLoaded = self { true } else { false } }

  /// The bytes of the record in a payload.
  var encoded: [UInt8] {
    var fields = ByteBuilder()
    let kind: UInt8
    switch self {
    case .type(let type):
      kind = UInt8(LT_DEF_TYPE)
      fields.varint(UInt64(type.id))
      fields.varint(type.metadata.rawValue)
      fields.varint(type.kind.rawValue)
      fields.varint(type.descriptor.rawValue)
      fields.string(type.name)
      fields.varint(UInt64(type.superclass))
    case .imageLoaded(let image, let time):
      kind = UInt8(LT_DEF_IMAGE_LOADED)
      fields.varint(image.loadBias)
      fields.varint(image.range.lowerBound.rawValue)
      fields.varint(image.range.upperBound.rawValue)
      fields.varint(time)
      fields.blob(image.buildID)
      fields.string(image.path)
    case .imageUnloaded(let first, let end, let time):
      kind = UInt8(LT_DEF_IMAGE_UNLOADED)
      for value in [first.rawValue, end.rawValue, time] { fields.varint(value) }
    case .clock(let sample):
      kind = UInt8(LT_DEF_CLOCK)
      for value in [sample.time, sample.monotonic] { fields.varint(value) }
      if let boot = sample.boot { fields.varint(boot) }
    case .memory(let sample):
      kind = UInt8(LT_DEF_MEMORY)
      for value in [sample.time, sample.resident, sample.recorder, sample.peakResident] { fields.varint(value) }
    case .process(let process):
      kind = UInt8(LT_DEF_PROCESS)
      fields.string(process.executable)
      fields.varint(process.flags)
    case .pause(let pause):
      kind = UInt8(LT_DEF_PAUSE)
      fields.varint(UInt64(pause.begins ? LT_PAUSE_BEGIN : LT_PAUSE_END))
      fields.varint(pause.time)
    case .thread(let thread):
      kind = UInt8(LT_DEF_THREAD)
      for value in [UInt64(thread.thread), thread.osThread, thread.time] { fields.varint(value) }
    case .warning(let text):
      kind = UInt8(LT_DEF_WARNING)
      fields.string(text)
    case .threadStack(let stack):
      kind = UInt8(LT_DEF_THREAD_STACK)
      stack.encode(to: &fields)
    case .allocator(let record):
      kind = UInt8(LT_DEF_ALLOCATOR)
      record.encode(to: &fields)
    case .residence(let record):
      kind = UInt8(LT_DEF_RESIDENCE)
      for value in [record.time, record.anonymous, record.other, record.hugePages, record.swapped] {
        fields.varint(value)
      }
    case .sampleTotals(let totals):
      kind = UInt8(LT_DEF_SAMPLE_TOTALS)
      totals.encode(to: &fields)
    case .sampledSite(let site):
      kind = UInt8(LT_DEF_SAMPLED_SITE)
      site.encode(to: &fields)
    case .limit(let limit):
      kind = UInt8(LT_DEF_LIMIT)
      limit.encode(to: &fields)
    case .unknown(let number, let size):
      kind = number
      fields.bytes = Array(repeating: 0, count: size)
    }
    var record = ByteBuilder()
    record.byte(kind)
    record.blob(fields.bytes)
    return record.bytes
  }
}
