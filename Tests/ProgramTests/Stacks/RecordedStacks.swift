// The stacks of a trace's allocations, as `leaktrace dump` prints them, by requested size.

import Foundation
@testable import TraceRecording

/// One frame of a stack.
struct PrintedFrame: Hashable, Sendable {
  var address: UInt64
  /// Whether the address itself is looked up; otherwise it is a return address.
  var isExact: Bool
  /// Whether the frame is the resumption of an async caller.
  var isAsync: Bool

  /// The address of an instruction of the frame's function.
  var codeAddress: UInt64 { isExact || isAsync ? address : address - 1 }
}

struct PrintedImage: Sendable {
  var range: Range<UInt64>
  var loadBias: UInt64
  var path: String
}

struct RecordedStacks {
  private(set) var images: [PrintedImage] = []
  /// The stacks of `malloc` and `swift_allocObject` by size, for the sizes that the programs mark. The innermost frame
  /// is first.
  private(set) var allocations: [Int: [[PrintedFrame]]] = [:]

  init(_ path: String) throws {
    let outcome = try Command([BuildProducts.leaktrace, "dump", "--all", path]).run()
    guard outcome.end == .exit(0) else {
      throw CommandFailure("leaktrace dump \(path): \(outcome.end) \(outcome.errorOutput)")
    }
    var nodes: [(caller: Int, frame: PrintedFrame?)] = [(0, nil), (0, nil)]
    for line in outcome.output.split(separator: "\n") {
      let fields = line.split(separator: " ")
      func value(_ name: String) -> Substring? {
        fields.first { $0.hasPrefix(name + "=") }?.dropFirst(name.utf8.count + 1)
      }
      if fields[0] == "stack" {
        guard value("id").flatMap({ Int($0) }) == nodes.count, let caller = value("caller").flatMap({ Int($0) }),
          let frame = value("frame")
        else { throw CommandFailure("not the next stack: \(line)") }
        nodes.append((caller, Self.frame(frame)))
      } else if fields.count > 2, fields[1] == "image_loaded" {
        guard let first = value("first").flatMap(Self.number), let end = value("end").flatMap(Self.number),
          let bias = value("bias").flatMap(Self.number), let path = line.range(of: " path=")
        else { throw CommandFailure("not an image: \(line)") }
        images.append(PrintedImage(range: first..<end, loadBias: bias, path: String(line[path.upperBound...])))
      } else if fields.count > 6, fields[3] == "malloc" || fields[3] == "swift_allocObject" {
        guard let size = value("size").flatMap({ Int($0) }), var node = value("stack").flatMap({ Int($0) })
        else { throw CommandFailure("not an allocation: \(line)") }
        guard MarkedStacks.sizes.contains(size) else { continue }
        var frames: [PrintedFrame] = []
        while node > 1, let frame = nodes[node].frame {
          frames.append(frame)
          node = nodes[node].caller
        }
        allocations[size, default: []].append(frames)
      }
    }
  }

  private static func frame(_ text: Substring) -> PrintedFrame? {
    let parts = text.split(separator: "@")
    guard let address = number(parts[0]) else { return nil }
    return PrintedFrame(address: address, isExact: parts.last == "exact", isAsync: parts.last == "async")
  }

  private static func number(_ text: Substring) -> UInt64? { UInt64(text.dropFirst(2), radix: 16) }
}

extension RecordedTrace.Drops {
  /// Descriptions of everything that is missing in the trace; empty if nothing is.
  var all: [String] {
    let counts = [
      "nested": nested, "after stop": afterStop, "without memory": withoutMemory, "truncated stacks": truncatedStacks,
      "incomplete stacks": incompleteStacks, "mismatched stacks": mismatchedStacks,
    ]
    return counts.filter { $0.value > 0 }.map { "\($0.value) \($0.key)" }
  }
}
