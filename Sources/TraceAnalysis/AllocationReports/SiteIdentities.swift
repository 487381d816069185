// Common numbers for the sites and stacks of several traces.

import TraceReading

/// Numbers sites by operation, type and stack. The first sites of each stack form a linked list. Further sites are in a
/// hash table.
struct SiteIdentities {
  private struct Identity: Hashable {
    var operation: Operation
    var type: Int32
    var stack: Int32
  }

  /// Maximum length of a stack's list.
  private static let chainLimit = 16
  private struct Row {
    var operation: Operation
    var type: Int32
    /// `next`: the row of another site of the same stack. `candidate`: index of the site's candidate. Both are −1 if
    /// there is none.
    var next: Int32
    var candidate: Int32 = -1
  }
  private var rows: [Row] = []
  private var firstByStack: [Int32] = []
  /// Sites of stacks whose lists are full.
  private var others: [Identity: Int32] = [:]

  var count: Int { rows.count }

  mutating func index(operation: Operation, type: Int, stack: Int) -> Int {
    if stack >= firstByStack.count {
      firstByStack.append(
        contentsOf: repeatElement(-1, count: max(stack + 1, 2 * firstByStack.count) - firstByStack.count))
    }
    var index = firstByStack[stack]
    var length = 0
    while index >= 0 {
      let row = rows[Int(index)]
      if row.operation == operation, row.type == Int32(type) { return Int(index) }
      index = row.next
      length += 1
    }
    if length >= Self.chainLimit {
      let identity = Identity(operation: operation, type: Int32(type), stack: Int32(truncatingIfNeeded: stack))
      if let known = others[identity] { return Int(known) }
      rows.append(Row(operation: operation, type: Int32(type), next: -1))
      others[identity] = Int32(rows.count - 1)
      return rows.count - 1
    }
    rows.append(Row(operation: operation, type: Int32(type), next: firstByStack[stack]))
    firstByStack[stack] = Int32(rows.count - 1)
    return rows.count - 1
  }

  func candidate(of index: Int) -> Int? { rows[index].candidate < 0 ? nil : Int(rows[index].candidate) }
  mutating func setCandidate(_ candidate: Int, of index: Int) { rows[index].candidate = Int32(candidate) }
}

/// Common numbers for the stacks of several traces. A frame is identified by its loaded image and link-time address.
struct StackForest {
  private struct Image: Hashable {
    var path: String
    var buildID: [UInt8]
  }
  private struct Key: Hashable {
    var parent: UInt32
    var image: UInt32
    var address: UInt64
    var flags: UInt64
  }

  private var images: [Image: UInt32] = [:]
  private var nodes: [Key: UInt32] = [:]

  /// Returns the common number of each node of a trace; nil if the trace's own numbers can be used. The own numbers can
  /// be used for a single trace unless it loaded an image twice. If an image was loaded twice, one place in it has
  /// several nodes.
  mutating func take(_ definitions: TraceDefinitions, isOnly: Bool) -> [UInt32]? {
    let images = Set(definitions.images.map { Image(path: $0.image.path, buildID: $0.image.buildID) })
    return isOnly && images.count == definitions.images.count ? nil : number(definitions)
  }

  private mutating func number(_ definitions: TraceDefinitions) -> [UInt32] {
    let imageNumbers = definitions.images.map { image -> UInt32 in
      let key = Image(path: image.image.path, buildID: image.image.buildID)
      let number = images[key] ?? UInt32(images.count + 1)
      images[key] = number
      return number
    }
    // Parents have lower numbers than their children.
    var numbers: [UInt32] = [0, 1]
    numbers.reserveCapacity(definitions.stacks.nodeCount)
    for node in 2..<max(2, definitions.stacks.nodeCount) {
      let node = StackID(UInt32(node))
      let parent = numbers[Int(definitions.stacks.parent(of: node).rawValue)]
      let key: Key
      if let frame = definitions.stacks.frame(of: node) {
        let image = frame.image.map { imageNumbers[$0] } ?? 0
        let bias = frame.image.map { definitions.images[$0].image.loadBias } ?? 0
        key = Key(
          parent: parent, image: image, address: frame.key.address.rawValue &- bias,
          flags: frame.key.isAsync ? 2 : frame.key.isExact ? 1 : 0)
      } else {
        key = Key(parent: parent, image: 0, address: 0, flags: 3)
      }
      let number = nodes[key] ?? UInt32(nodes.count + 2)
      nodes[key] = number
      numbers.append(number)
    }
    return numbers
  }
}
