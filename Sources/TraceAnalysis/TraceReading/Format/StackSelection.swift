// The events whose stacks a reader looks up.

/// Selects the events whose stacks a reader looks up. A look-up takes time, and makes the tree of stacks larger.
package enum StackSelection: Hashable, Sendable {
  case none
  case allocations
  /// Allocations, and all events at the addresses in the filter.
  case chosen(AddressFilter)
  case all

  /// The operations whose stacks are looked up, as bits: bit n for operation n.
  var operations: UInt64 {
    switch self {
    case .none: 0
    case .allocations: Operation.allocatingMask
    case .chosen, .all: .max
    }
  }

  /// The operations whose stacks are looked up only for addresses of the filter, as bits.
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
