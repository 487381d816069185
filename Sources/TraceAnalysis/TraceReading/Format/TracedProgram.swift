// Finding the program of a trace without reading the whole trace.

import CTraceFormat

/// The program that the first definitions of a trace describe.
package struct TracedProgram: Hashable, Sendable {
  /// The path of the program's file.
  package var path: String
  /// Paths of the images that were loaded when the recording began.
  package var images: [String]
  /// True if the program uses a Swift runtime.
  package var hasSwift: Bool

  package init(path: String, images: [String] = [], hasSwift: Bool = false) {
    (self.path, self.images, self.hasSwift) = (path, images, hasSwift)
  }

  /// The last component of the path.
  package var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// The most bytes of a gap between two chunks that are skipped.
  private static let maximumGap: UInt64 = 1 << 16

  /// Reads the first description in the trace, or else in its live file. Nil if there is none.
  ///
  /// Does not verify the checksums of payloads, so use the result only for messages and choices, not for verdicts.
  /// - Complexity: Linear in the number of chunks before the description.
  package init?(tracePath: String) {
    guard let source = try? ByteSource(path: tracePath),
      let page = source.bytes(at: 0, count: Int(min(source.size, UInt64(LT_TRACE_HEADER_SIZE)))),
      let header = try? TraceHeader(decoding: page)
    else { return nil }
    let payloads = LiveFile(path: tracePath + LT_LIVE_SUFFIX, traceID: header.traceID)?.payloads ?? []
    let loader = PayloadLoader(source: source, livePayloads: payloads)
    let buffer = PayloadBuffer()
    func describe(_ chunk: TraceChunk) -> TracedProgram? {
      guard chunk.kind == .definitions, loader.load(chunk, into: buffer) == nil else { return nil }
      return TracedProgram(buffer)
    }
    var offset = UInt64(LT_TRACE_HEADER_SIZE)
    while let chunk = Self.nextChunk(of: source, from: &offset) {
      if let found = describe(chunk) {
        self = found
        return
      }
    }
    for (index, payload) in payloads.enumerated() {
      if let found = describe(TraceChunk(payload, at: index)) {
        self = found
        return
      }
    }
    return nil
  }

  /// Returns the chunk at `offset`, or after a gap that begins at `offset`. Moves `offset` to the chunk's end. Nil at
  /// the end of the trace and at damage.
  private static func nextChunk(of source: ByteSource, from offset: inout UInt64) -> TraceChunk? {
    let alignment = UInt64(LT_CHUNK_ALIGNMENT), start = offset
    while offset - start < maximumGap, let bytes = source.bytes(at: offset, count: TraceChunk.headerSize) {
      if let chunk = bytes.withUnsafeBytes({ TraceChunk(header: $0.baseAddress!, offset: offset) }) {
        let end = offset + UInt64(TraceChunk.headerSize) + UInt64(chunk.storedSize)
        offset = (end + alignment - 1) / alignment * alignment
        return chunk
      }
      guard bytes[..<8].allSatisfy({ $0 == 0 }) else { return nil }
      offset += alignment
    }
    return nil
  }

  /// Nil if the definitions do not describe a process.
  private init?(_ payload: PayloadBuffer) {
    var decoder = DefinitionDecoder(payload)
    var process: ProcessRecord?
    var images: [String] = []
    records: while true {
      switch decoder.next() {
      case .definition(.process(let record)): process = record
      case .definition(.imageLoaded(let image, _)): images.append(image.path)
      case .definition, .damagedRecord: continue
      case .end, .damaged: break records
      }
    }
    guard let process, !process.executable.isEmpty else { return nil }
    self.init(
      path: process.executable, images: images,
      hasSwift: process.hasSwiftHooks || images.contains { $0.hasSuffix("/libswiftCore.so") })
  }
}
