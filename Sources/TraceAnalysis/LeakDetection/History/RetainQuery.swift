// Queries of `why` and `history`.

import TraceReading
import TraceSymbolication

/// The subject of a query.
package enum RetainQuery: Hashable, Sendable {
  case address(RuntimeAddress)
  /// The name of a type, or a part of the name.
  case type(NamePattern)
  /// A function in the stack of the allocation.
  case site(NamePattern)
}
