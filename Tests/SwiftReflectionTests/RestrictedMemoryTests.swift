// Reflection that can read only the memory in a heap image.

import Testing

@testable import HeapAnalysis
@testable import TraceReading

/// The part of a process's memory that a heap image holds. It has the words of writable memory that look like pointers
/// into mapped memory, with or without spare bits at their top. It also has the given metadata records. All other words
/// of writable memory are 0. Memory that is not writable is read only from files.
private final class RestrictedWords: CapturedWords {
  private let memory: ProcessMemory
  private let mapped: [Range<UInt64>]
  private let writable: [Range<UInt64>]
  private let records: [Range<UInt64>]

  init(of process: SpecimenProcess, records: [Range<UInt64>]) {
    memory = ProcessMemory(of: process.processID)
    mapped = process.regions.map(\.range)
    // Data that the loader protects after relocation was still written to, so it counts as writable.
    writable = process.regions.filter { $0.isWritable || $0.isReadable && $0.path.hasPrefix("/") && $0.offset != 0 }
      .map(\.range)
    self.records = records
  }

  func word(at address: RuntimeAddress) -> UInt64? {
    guard covers(address), let word = memory.word(at: address) else { return nil }
    if records.contains(where: { $0.contains(address.rawValue) }) { return word }
    let pointer = word & (1 << 56 - 1)
    return Self.contains(mapped, pointer) ? word : nil
  }

  func covers(_ address: RuntimeAddress) -> Bool { Self.contains(writable, address.rawValue) }

  private static func contains(_ ranges: [Range<UInt64>], _ address: UInt64) -> Bool {
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].lowerBound <= address { low = middle + 1 } else { high = middle }
    }
    return low > 0 && ranges[low - 1].contains(address)
  }
}

@Suite struct RestrictedMemoryTests {
  @Test(arguments: SpecimenBuild.tested)
  func layoutsFromAHeapImageEqualTheLiveOnes(_ build: SpecimenBuild) throws {
    let process = try SpecimenProcess.running(build)
    let memory = ProcessMemory(of: process.processID)
    let whole = try process.reflection(memory)
    let records = MetadataRecords(of: process.specimens.values.map(\.metadata), in: memory)
    let contents = ImageContents(process.images)
    let image = ImageBackedMemory(images: contents, captured: RestrictedWords(of: process, records: records.ranges))
    let restricted = try process.reflection(image)
    for specimen in process.specimens.values.sorted(by: { $0.name < $1.name }) {
      let expected = whole.layout(ofInstanceAt: specimen.address, metadata: specimen.metadata)
      #expect(expected != nil, "\(specimen.name)")
      let layout = restricted.layout(ofInstanceAt: specimen.address, metadata: specimen.metadata)
      #expect(layout == expected, "\(specimen.name)")
    }
    #expect(restricted.failedQuestions == 0)
  }
}

/// The metadata records of some objects' types, found as a recorder may find them. The record of a class is whole. The
/// record of another type is its first words. If a pointer in a record refers to something that looks like metadata,
/// such as a superclass or a generic argument, that is a record, too.
private struct MetadataRecords {
  private(set) var ranges: [Range<UInt64>] = []

  /// The length of records other than a class's. Metadata of a function begins with kind, flags, result and parameters.
  /// Metadata of a tuple begins with kind, count and labels, and has two words for each element. Metadata of a generic
  /// type begins with kind, descriptor and arguments.
  private static let valueRecordSize: UInt64 = 128

  init(of metadata: [RuntimeAddress], in memory: ProcessMemory) {
    var pending = metadata
    var seen: Set<RuntimeAddress> = []
    while let address = pending.popLast() {
      guard address.rawValue % 8 == 0, seen.insert(address).inserted, let kind = memory.word(at: address) else {
        continue
      }
      var size = Self.valueRecordSize
      switch kind {
      case 0:
        guard let record = ClassMetadata(address, in: memory), record.descriptor.rawValue % 4 == 0,
          let flags = memory.value(at: record.descriptor, as: UInt32.self), flags & 31 == 16
        else { continue }
        size = UInt64(record.recordSize)
      case 0x200...0x203, 0x300...0x307, 0x400, 0x500, 0x501: break
      default: continue
      }
      ranges.append(address.rawValue..<address.rawValue + size)
      for offset in stride(from: 0, to: size, by: 8) {
        if let word = memory.word(at: RuntimeAddress(address.rawValue + offset)), word != 0 {
          pending.append(RuntimeAddress(word))
        }
      }
    }
  }
}
