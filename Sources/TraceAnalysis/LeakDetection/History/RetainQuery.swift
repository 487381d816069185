// Queries of `why` and `history`.

import TraceReading
import TraceSymbolication

/// The subject of a query.
package enum RetainQuery: Hashable, Sendable {
  case address(RuntimeAddress)
  /// A type's name, or a part of it.
  case type(NamePattern)
  /// A function in the stack of the allocation.
  case site(NamePattern)
}
