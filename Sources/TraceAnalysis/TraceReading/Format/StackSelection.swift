// The events whose stacks a reader looks up.

/// Selects the events whose stacks a reader looks up. A look-up takes time and makes the tree of stacks larger.
package enum StackSelection: Hashable, Sendable {
  case none
  case allocations
  /// Allocations, and all events at these addresses.
  case chosen(AddressFilter)
  case all

  /// The operations, by bit.
  var operations: UInt64 {
    switch self {
    case .none: 0
    case .allocations: (1 << 16) - 1 | 1 << 18  // LT_OP_REALLOC_FAILED stands among the frees
    case .chosen, .all: .max
    }
  }

  /// Operations, by bit, whose stacks are looked up only for some addresses.
  var filteredOperations: UInt64 {
    if case .chosen = self { return ~Self.allocations.operations }
    return 0
  }

  /// The addresses that select events; nil if addresses do not matter.
  var filter: AddressFilter? {
    if case .chosen(let filter) = self { return filter }
    return nil
  }
}
