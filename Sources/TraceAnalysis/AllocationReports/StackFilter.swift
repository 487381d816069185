// Finds the stacks that have a frame that matches a filter.

import TraceReading
import TraceSymbolication

/// Filters the stacks of one trace. Looks up the names of each node once, even if many stacks share it. For one thread
/// at a time.
final class StackFilter {
  /// The result for each node. Bit 0: this frame or an outer frame matches the modules. Bit 1: this frame or an outer
  /// frame matches the functions. Bit 7: the result is known.
  private var verdicts: [UInt8] = []
  private let definitions: TraceDefinitions
  private let naming: any FrameNaming
  private let selection: ReportSelection

  init(_ definitions: TraceDefinitions, naming: any FrameNaming, selection: ReportSelection) {
    self.definitions = definitions
    self.naming = naming
    self.selection = selection
  }

  func matches(_ stack: StackID) -> Bool {
    if selection.modules.isEmpty && selection.functions.isEmpty { return true }
    if verdicts.isEmpty { verdicts = Array(repeating: 0, count: definitions.stacks.nodeCount) }
    var chain: [StackID] = []
    var node = stack
    while node.rawValue > 1, verdicts[Int(node.rawValue)] & 128 == 0 {
      chain.append(node)
      node = definitions.stacks.parent(of: node)
    }
    var verdict = node.rawValue > 1 ? verdicts[Int(node.rawValue)] & 127 : none
    for node in chain.reversed() {
      if verdict != 3, let frame = definitions.stacks.frame(of: node) {
        for source in naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image }) {
          verdict |= matches(source)
        }
      }
      verdicts[Int(node.rawValue)] = verdict | 128
    }
    return verdict == 3
  }

  /// The result for a stack without frames.
  private var none: UInt8 { (selection.modules.isEmpty ? 1 : 0) | (selection.functions.isEmpty ? 2 : 0) }

  private func matches(_ frame: SourceFrame) -> UInt8 {
    var verdict: UInt8 = 0
    if selection.modules.contains(where: { pattern in
      frame.imageName.map { pattern.matches($0) } ?? false || frame.swiftModule.map { pattern.matches($0) } ?? false
    }) {
      verdict |= 1
    }
    if selection.functions.contains(where: { $0.matches(frame.function) || $0.matches(frame.fullFunction) }) {
      verdict |= 2
    }
    return verdict
  }
}
