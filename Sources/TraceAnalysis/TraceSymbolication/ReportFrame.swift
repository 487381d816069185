// Frames of the stacks in reports.

import TraceReading

/// A frame of a stack in a report.
package struct ReportFrame: Hashable, Sendable {
  package var address: RuntimeAddress
  package var source: SourceFrame

  package init(address: RuntimeAddress, source: SourceFrame) {
    self.address = address
    self.source = source
  }
}
