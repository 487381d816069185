// A size on the command line: `512KiB`, `2GiB`, `500MB`.

import ArgumentParser
import TraceAnalysis

struct ByteSize: ExpressibleByArgument {
  var bytes: UInt64

  init?(argument: String) {
    guard let bytes = Quantity(parsing: argument)?.bytes else { return nil }
    self.bytes = bytes
  }
}
