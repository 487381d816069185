// The stacks of a finding as text.

import LeakDetection
import TextWriting
import TraceReading

/// Writes a finding's stacks with every frame. Formats only; makes no decisions.
struct FindingStackText {
  let style: TextStyle

  /// Maximum number of stacks to show for a finding.
  private static let limit = 10

  func write(_ stacks: FindingStacks, to lines: inout TextLines) {
    for allocation in stacks.allocations.prefix(Self.limit) {
      lines.line("Allocated, \(Decimal.counted(UInt64(max(0, allocation.instances)), "instance")):", indent: 2)
      write(allocation.stack, to: &lines)
    }
    let rest = stacks.allocations.dropFirst(Self.limit)
    if !rest.isEmpty {
      lines.line("… \(Decimal.counted(UInt64(rest.count), "more stack")) in the JSON report", indent: 2)
    }
    for object in stacks.objects {
      for reference in (object.references ?? []).prefix(Self.limit) {
        let words =
          reference.operation.effect == .allocation
          ? "the reference of its allocation"
          : Decimal.counted(reference.count, "reference") + " of \(reference.operation.name)"
        lines.line(
          "Not released, \(PlainText.escaped(object.type)) \(Hexadecimal.text(object.address.rawValue)): \(words):",
          indent: 2)
        write(reference.stack, to: &lines)
      }
    }
  }

  private func write(_ stack: FindingStacks.Stack, to lines: inout TextLines) {
    StackText(style: style).writeFull(stack.frames, from: stack.userFrame, to: &lines, indent: 6)
    if stack.frames.isEmpty { lines.row("no stack was recorded", indent: 6) }
    if stack.end != .complete { lines.row("… the rest of the stack is left out", indent: 6) }
  }
}
