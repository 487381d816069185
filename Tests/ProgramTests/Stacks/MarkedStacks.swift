// The stacks that a program printed for its allocations, compared with the recorded stacks.

import Testing

struct MarkedStacks {
  /// The sizes that stacks_next_size returns. The programs allocate no other blocks of these sizes.
  static let sizes = 70_001..<80_000

  /// The sizes with the frames of the allocation, innermost first.
  private(set) var marks: [(size: Int, frames: [PrintedFrame])] = []

  /// - Parameter output: The program's output. Lines of the form "mark SIZE PC PC …" are read; others are ignored.
  init(_ output: String) throws {
    for line in output.split(separator: "\n") where line.hasPrefix("mark ") {
      let fields = line.split(separator: " ")
      guard fields.count > 2, let size = Int(fields[1]) else { throw CommandFailure("not a mark: \(line.prefix(200))") }
      let frames = try fields[2...].map { field in
        let isExact = field.hasSuffix("!")
        guard let address = UInt64(isExact ? field.dropLast() : field, radix: 16) else {
          throw CommandFailure("not an address: \(field)")
        }
        return PrintedFrame(address: address, isExact: isExact, isAsync: false)
      }
      marks.append((size, frames))
    }
  }

  /// Expects that each allocation was recorded once, by the same function with the same callers.
  func expectEqual(_ recorded: RecordedStacks, sourceLocation: SourceLocation = #_sourceLocation) throws {
    var differences: [String] = []
    var innermost: Set<PrintedFrame> = []
    var callers: [(size: Int, marked: PrintedFrame, recorded: PrintedFrame)] = []
    for (size, frames) in marks {
      guard let stacks = recorded.allocations[size], stacks.count == 1, let first = stacks[0].first else {
        differences.append("size \(size): recorded \(recorded.allocations[size]?.count ?? 0) times")
        continue
      }
      // One function allocates and then prints the stack by another call, so the innermost addresses differ.
      callers.append((size, frames[0], first))
      innermost.formUnion([frames[0], first])
      let (expected, actual) = (frames.dropFirst(), stacks[0].dropFirst())
      guard !expected.elementsEqual(actual) else { continue }
      let depth = zip(expected, actual).prefix { $0 == $1 }.count + 1
      func text(_ frames: [PrintedFrame]) -> String {
        frames.dropFirst(depth).prefix(4).map { String($0.address, radix: 16) + ($0.isExact ? "!" : "") }.joined(
          separator: " ")
      }
      differences.append(
        "size \(size): at frame \(depth) of \(frames.count), recorded \(stacks[0].count): \(text(frames)) but recorded \(text(stacks[0]))"
      )
    }
    let names = try FunctionNames(innermost, images: recorded.images)
    for caller in callers where names[caller.marked].last != names[caller.recorded].last || names[caller.marked].isEmpty
    {
      differences.append("size \(caller.size): in \(names[caller.marked]) but recorded \(names[caller.recorded])")
    }
    #expect(
      differences.isEmpty, "\(differences.count) of \(marks.count) differ: \(differences.prefix(5))",
      sourceLocation: sourceLocation)
  }
}
