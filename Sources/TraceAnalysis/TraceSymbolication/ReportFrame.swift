// Frames of shown stacks.

import TraceReading

/// A frame of a shown stack.
package struct ReportFrame: Hashable, Sendable {
  package var address: RuntimeAddress
  package var source: SourceFrame

  package init(address: RuntimeAddress, source: SourceFrame) {
    self.address = address
    self.source = source
  }
}
