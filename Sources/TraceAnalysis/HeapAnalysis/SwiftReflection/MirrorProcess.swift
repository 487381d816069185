// Sends questions to the child process with the remote mirror library, and decodes its answers.

import CRemoteMirror
import TraceReading
import TraceSymbolication

/// A type's number within one child process.
struct MirrorType: Hashable {
  var rawValue: UInt64
}

/// The library's description of an object or a value.
struct MirrorAnswer {
  struct Field {
    var offset: Int
    var kind: Int
    /// `nil` for a case without payload.
    var type: MirrorType?
    var name: String
    var typeName: String
  }

  var kind: Int
  var size: Int
  var alignment: Int
  var stride: Int
  var type: MirrorType?
  var typeName: String
  var arguments: [MirrorType]
  var fields: [Field]
}

/// The child process with the remote mirror library. The initialiser starts it. If a question crashes or blocks the
/// child, another child starts.
///
/// A question takes a few tens of microseconds. The first question to a child takes up to a few seconds. For one thread
/// at a time.
final class MirrorProcess {
  /// After `died`, types of earlier answers are no longer valid.
  typealias Failure = SandboxedChild.Failure

  /// Maximum total time of questions that ended the child. After that, no more questions are sent.
  private static let lostTimeLimit = Duration.seconds(60)

  private let sections: ReflectionSections
  private let regions: UnsafeMutableBufferPointer<lt_mirror_region>
  private let starts: UnsafeMutableBufferPointer<UInt64>
  private let reader: Reader
  private let input: UnsafeMutablePointer<lt_mirror_input>
  private let child: SandboxedChild
  /// The number of questions that ended the child.
  var deaths: Int { child.deaths }
  /// The number of the current child, to distinguish types of different children.
  var generation: Int { child.generation }

  /// Keeps the file bytes alive that the regions point to.
  private let contents: ImageContents

  private final class Reader {
    let memory: any TargetMemory
    init(_ memory: any TargetMemory) { self.memory = memory }
  }

  /// - Parameter library: a library from `RemoteMirrorLibrary.load`. This object releases it.
  init(library: OpaquePointer, contents: ImageContents, memory: any TargetMemory) throws(SwiftReflectionError) {
    self.contents = contents
    sections = ReflectionSections(contents)
    reader = Reader(memory)
    regions = .allocate(capacity: sections.regions.count)
    _ = regions.initialize(from: sections.regions)
    starts = .allocate(capacity: sections.imageStarts.count)
    _ = starts.initialize(from: sections.imageStarts)
    input = .allocate(capacity: 1)
    input.initialize(
      to: lt_mirror_input(
        library: library,
        memory: lt_mirror_memory(
          regions: UnsafePointer(regions.baseAddress), regionCount: regions.count,
          read: { context, address, bytes, size in
            guard let context, let bytes, size <= Int.max else { return 0 }
            let reader = Unmanaged<Reader>.fromOpaque(context).takeUnretainedValue()
            return reader.memory.read(
              RuntimeAddress(address), into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(size))) ? 1 : 0
          },
          context: Unmanaged.passUnretained(reader).toOpaque(), spareBits: Self.spareBits(contents.processor)),
        images: UnsafePointer(starts.baseAddress), imageCount: starts.count))
    child = SandboxedChild(lostTimeLimit: Self.lostTimeLimit) { [input] in lt_mirror_start($0, input) }
    guard !starts.isEmpty else { throw .noReflectionSections }
    // Swift initialises some state on first use, under a lock. Initialise it before the fork: if another thread holds
    // such a lock at the fork, the child's copy of the lock is never released.
    _ = memory.word(at: RuntimeAddress(starts[0]))
    _ = memory.word(at: contents.images[0].loaded.range.lowerBound)
    do {
      try child.start()
    } catch {
      if case .unstartable(let errno) = error { throw .system(errno: errno) }
    }
  }

  deinit {
    // The child has its own copies of everything that is freed here.
    lt_mirror_release(input.pointee.library)
    input.deallocate()
    regions.deallocate()
    starts.deallocate()
    sections.deallocate()
  }

  private static func spareBits(_ processor: Processor?) -> UInt64 {
    switch processor {
    case .x86_64: LT_MIRROR_SPARE_BITS_X86_64
    case .arm64: LT_MIRROR_SPARE_BITS_ARM64
    case nil: 0
    }
  }

  func instances(ofClassWithMetadata metadata: RuntimeAddress) throws(Failure) -> MirrorAnswer {
    try ask(LT_MIRROR_OF_METADATA, metadata.rawValue)
  }

  func instance(at address: RuntimeAddress) throws(Failure) -> MirrorAnswer {
    try ask(LT_MIRROR_OF_INSTANCE, address.rawValue)
  }

  func value(of type: MirrorType) throws(Failure) -> MirrorAnswer { try ask(LT_MIRROR_OF_TYPE, type.rawValue) }

  func value(ofTypeWithMetadata metadata: RuntimeAddress) throws(Failure) -> MirrorAnswer {
    try ask(LT_MIRROR_OF_VALUE_METADATA, metadata.rawValue)
  }

  /// Returns the library's answer about the discriminator of an enumeration. Takes a few milliseconds for a large
  /// enumeration.
  func cases(of type: MirrorType) throws(Failure) -> MirrorCases {
    try ask(LT_MIRROR_CASES_OF_TYPE, type.rawValue) { MirrorCases($0) }
  }

  private func ask(_ about: Int, _ subject: UInt64) throws(Failure) -> MirrorAnswer {
    try ask(about, subject) { MirrorAnswer($0) }
  }

  private func ask<Answer>(_ about: Int, _ subject: UInt64, _ decode: (UnsafeRawBufferPointer) -> Answer?)
    throws(Failure) -> Answer
  {
    let question = lt_mirror_question(subject: subject, about: UInt32(about), reserved: 0)
    return try withUnsafePointer(to: question) { pointer throws(Failure) in
      let bytes = UnsafeRawBufferPointer(start: pointer, count: MemoryLayout<lt_mirror_question>.size)
      return try child.ask(bytes) { answer in answer.flatMap(decode) }
    }
  }
}

/// The library's answer about the bits that identify the case of an enumeration's values.
enum MirrorCases {
  case unknown
  /// The offsets of the bits from the value's start, and the index of the case for each number that the bits can form.
  case tag(bits: [Int], cases: [Int?])
  case address(offset: Int)
  case number(offset: Int)
  case zeros(bits: [Int])

  /// Decodes an answer. `nil` if the bytes are not a complete answer.
  init?(_ bytes: UnsafeRawBufferPointer) {
    let size = MemoryLayout<lt_mirror_cases>.size
    guard bytes.count >= size else { return nil }
    let head = bytes.loadUnaligned(as: lt_mirror_cases.self)
    let (bitCount, tableCount) = (Int(head.bitCount), Int(head.tableCount))
    guard bytes.count == size + bitCount * 4 + tableCount * 2 else { return nil }
    let bits = (0..<bitCount).map { Int(bytes.loadUnaligned(fromByteOffset: size + $0 * 4, as: UInt32.self)) }
    switch Int(head.how) {
    case LT_MIRROR_CASE_BY_TAG:
      guard bitCount < 16, tableCount == 1 << bitCount else { return nil }
      let start = size + bitCount * 4
      self = .tag(
        bits: bits,
        cases: (0..<tableCount).map { number in
          let index = bytes.loadUnaligned(fromByteOffset: start + number * 2, as: Int16.self)
          return index < 0 ? nil : Int(index)
        })
    case LT_MIRROR_PAYLOAD_BY_ADDRESS: self = .address(offset: Int(head.offset))
    case LT_MIRROR_PAYLOAD_BY_NO_NUMBER: self = .number(offset: Int(head.offset))
    case LT_MIRROR_PAYLOAD_BY_ZEROS: self = .zeros(bits: bits)
    default: self = .unknown
    }
  }
}

extension MirrorAnswer {
  /// Decodes an answer. `nil` if the bytes are not a complete answer.
  init?(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes
    func take(_ count: Int) -> UnsafeRawBufferPointer? {
      guard count <= rest.count else { return nil }
      defer { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
      return UnsafeRawBufferPointer(rebasing: rest[..<count])
    }
    guard let head = take(MemoryLayout<lt_mirror_answer>.size)?.loadUnaligned(as: lt_mirror_answer.self),
      let name = take(Int(head.nameSize)), let arguments = take(Int(head.argumentCount) * 8)
    else { return nil }
    kind = Int(head.kind)
    size = Int(head.size)
    alignment = max(Int(head.alignment), 1)
    stride = Int(head.stride)
    type = head.type == 0 ? nil : MirrorType(rawValue: head.type)
    typeName = String(decoding: name, as: UTF8.self)
    self.arguments = (0..<Int(head.argumentCount)).map {
      MirrorType(rawValue: arguments.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self))
    }
    fields = []
    fields.reserveCapacity(min(Int(head.fieldCount), rest.count))
    for _ in 0..<head.fieldCount {
      guard let field = take(MemoryLayout<lt_mirror_field>.size)?.loadUnaligned(as: lt_mirror_field.self),
        let name = take(Int(field.nameSize)), let typeName = take(Int(field.typeNameSize))
      else { return nil }
      fields.append(
        Field(
          offset: Int(field.offset), kind: Int(field.kind),
          type: field.type == 0 ? nil : MirrorType(rawValue: field.type),
          name: String(decoding: name, as: UTF8.self), typeName: String(decoding: typeName, as: UTF8.self)))
    }
  }
}
