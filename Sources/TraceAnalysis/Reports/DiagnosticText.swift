// Diagnostics in words.

extension TraceDiagnostic {
  /// One sentence: what is wrong, and where.
  public var explanation: String {
    let text: String =
      switch kind {
      case .truncatedChunk(let present, let expected):
        "the file ends inside a chunk: \(present.rawValue) of \(expected.rawValue) bytes are there"
      case .unreadableBytes(let skipped): "\(skipped.rawValue) bytes that are no chunk were skipped"
      case .damagedPayload(let expected, let found):
        "a chunk is damaged and was skipped (checksum \(Hexadecimal.text(UInt64(found))), should be \(Hexadecimal.text(UInt64(expected))))"
      case .implausibleSize(let claimed, let justified):
        "a chunk that claims \(claimed.rawValue) bytes was skipped: the file justifies \(justified.rawValue)"
      case .beyondFileSize(let claimed):
        "a chunk of \(claimed.rawValue) bytes was not read: together with those before it, it is more than a file of this size justifies"
      case .tooManyBlocks(let ignored): "\(ignored) allocations are left out: more blocks are live at once, or there are more allocations among very many blocks, than a file of this size justifies"
      case .tooManySites(let allocations): "the stacks of \(allocations) allocations are left out: they are made at more places than a file of this size justifies"
      case .undecompressable(let reason): "a chunk does not decompress and was skipped: \(PlainText.escaped(reason))"
      case .unknownCompression(let number): "a chunk was skipped: its compression, number \(number), is not known"
      case .duplicateChunk(let thread, let sequence): "a second chunk \(sequence) of thread \(thread) was ignored"
      case .missingChunks(let thread, let kind, let sequences):
        sequences.count == 1
          ? "chunk \(sequences.lowerBound) of thread \(thread)'s \(kind.name) is missing"
          : "chunks \(sequences.lowerBound) to \(sequences.upperBound) of thread \(thread)'s \(kind.name) are missing"
      case .damagedDefinitions(let offset, let records): "definitions break off at payload byte \(offset), after \(records) records"
      case .damagedDefinition(let kind, let offset): "a definition of kind \(kind) at payload byte \(offset) is damaged and was ignored"
      case .tooManyStacks(let frames): "\(frames) stack frames are left out: there are more than a file of this size justifies"
      case .tooManyDefinitions(let ignored): "\(ignored) definitions, more than the file's size justifies, were ignored"
      case .damagedEvents(let offset, let events): "events break off at payload byte \(offset), after \(events) events"
      case .eventCountMismatch(let claimed, let found): "a chunk has \(found) events but is said to have \(claimed)"
      case .damagedSlot(let reason): "a slot is damaged: \(PlainText.escaped(reason))"
      case .liveFileIgnored(let reason): "the live file beside the trace was ignored: \(PlainText.escaped(reason))"
      case .damagedSnapshot: "the frame of a heap image is too short"
      case .damagedMemory(let offset): "the pages of a heap image break off at byte \(offset) of their chunk"
      case .incompleteSnapshot(let number, let parts, let expected):
        "heap image \(number) is incomplete: parts of its memory that were read: \(parts)\(expected.map { " of \($0)" } ?? "")"
          + (expected == nil ? "; its end is missing" : "")
      case .tooMuchMemory(let words): "a heap image holds more than a file of this size justifies; \(words) words were read"
      case .overMemoryLimit(let words, let limit):
        "a heap image takes more than \(Decimal.bytes(limit.rawValue)) of memory, half of this machine's unless --memory-limit says otherwise; \(words) words were read"
      case .damagedClosing: "the closing record is too short"
      case .readFailed(let code): "the file cannot be read here (errno \(code))"
      }
    let prefix: String =
      switch place {
      case .trace(let offset): "offset \(offset.rawValue)" + (chunk.map { ", chunk \($0)" } ?? "") + ": "
      case .live(let offset): "live file, offset \(offset.rawValue): "
      case nil: ""
      }
    return prefix + text
  }
}
