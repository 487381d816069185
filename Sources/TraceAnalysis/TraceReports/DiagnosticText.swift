// Diagnostics in words.

import TextWriting
import TraceReading

extension TraceDiagnostic {
  /// The word before the sentence in reports.
  package var label: String {
    if case .stopped = kind { return "incomplete" }
    return isRefusal ? "refused" : "damage"
  }

  /// A sentence with the problem and its place.
  package var explanation: String {
    let text: String =
      switch kind {
      case .truncatedChunk(let present, let expected):
        "the file ends inside a chunk: \(present.rawValue) of \(expected.rawValue) bytes are there"
      case .unreadableBytes(let skipped): "\(skipped.rawValue) bytes outside of any chunk were skipped"
      case .damagedPayload(let expected, let found):
        "a chunk is damaged and was skipped (checksum \(Hexadecimal.text(UInt64(found))), should be \(Hexadecimal.text(UInt64(expected))))"
      case .implausibleSize(let claimed, let justified):
        "a chunk that claims \(claimed.rawValue) bytes was skipped: the file justifies \(justified.rawValue)"
      case .beyondFileSize(let claimed):
        "a chunk of \(claimed.rawValue) bytes was not read: the chunks are too large for a stranger's file of this size"
      case .tooManyPasses(let bytes):
        "\(bytes.rawValue) bytes of events were not read a second time: too many for a stranger's file of this size"
      case .tooManyTurns(let chunks):
        "the rest of the events, in \(Decimal.counted(UInt64(chunks), "chunk")), was not read: threads take turns too often for a stranger's file of this size"
      case .tooManyBlocks(let ignored):
        "\(ignored) allocations are left out: too many live blocks for a stranger's file of this size"
      case .tooManySites(let allocations):
        "the stacks of \(allocations) allocations are left out: too many allocation sites for a stranger's file of this size"
      case .undecompressable(let reason): "a chunk does not decompress and was skipped: \(PlainText.escaped(reason))"
      case .unknownCompression(let number): "a chunk was skipped: its compression, number \(number), is not known"
      case .duplicateChunk(let thread, let sequence): "a second chunk \(sequence) of thread \(thread) was ignored"
      case .missingChunks(let thread, let kind, let sequences):
        sequences.count == 1
          ? "chunk \(sequences.lowerBound) of thread \(thread)'s \(kind.name) is missing"
          : "chunks \(sequences.lowerBound) to \(sequences.upperBound) of thread \(thread)'s \(kind.name) are missing"
      case .damagedDefinitions(let offset, let records):
        "definitions break off at payload byte \(offset), after \(records) records"
      case .damagedDefinition(let kind, let offset):
        "a definition of kind \(kind) at payload byte \(offset) is damaged and was ignored"
      case .tooManyStacks(let frames):
        "\(frames) stack frames are left out: too many for a stranger's file of this size"
      case .tooManyDefinitions(let ignored):
        "\(ignored) definitions were ignored: too many for a stranger's file of this size"
      case .damagedEvents(let offset, let events): "events break off at payload byte \(offset), after \(events) events"
      case .eventCountMismatch(let claimed, let found): "a chunk has \(found) events, but its header says \(claimed)"
      case .damagedSlot(let reason): "a slot is damaged: \(PlainText.escaped(reason))"
      case .liveFileIgnored(let reason): "the live file beside the trace was ignored: \(PlainText.escaped(reason))"
      case .damagedSnapshot: "the frame of a heap image is too short"
      case .damagedMemory(let offset): "the pages of a heap image break off at byte \(offset) of their chunk"
      case .incompleteSnapshot(let number, let parts, let expected):
        "heap image \(number) is incomplete: parts of its memory that were read: \(parts)\(expected.map { " of \($0)" } ?? "")"
          + (expected == nil ? "; its end is missing" : "")
      case .tooMuchMemory(let words):
        "a heap image is too large for a stranger's file of this size; \(words) words were read"
      case .overMemoryLimit(let words, let limit):
        "a heap image takes more than \(Decimal.bytes(limit.rawValue)), the memory that --memory-limit leaves for it; \(words) words were read"
      case .stopped(let stop): stop.explanation
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

extension ReadingStop {
  /// The part of the file that was read, the reason why reading stopped, and the next step.
  fileprivate var explanation: String {
    let extent =
      switch place {
      case .events(let read, let all):
        "after \(Decimal.grouped(read)) of \(Decimal.grouped(all)) events"
      case .definitions: "while the definitions were read"
      }
    switch reason {
    case .interrupt: return "reading was interrupted \(extent)"
    case .memory(let limit):
      return "reading stopped at the memory limit of \(Decimal.bytes(limit.rawValue)), \(extent). "
        + "Raise --memory-limit, or analyze the trace on a machine with more memory"
    }
  }
}
