// Prints a line of JSON for each heap image of a trace.
// Usage: image-list TRACE

import TraceReading

for snapshot in try TraceReader(path: CommandLine.arguments[1]).snapshots {
  let end = snapshot.end ?? .init()
  print(
    "{\"number\": \(snapshot.number), \"isWhole\": \(snapshot.isWhole), \"isFrozen\": \(snapshot.isFrozen), "
      + "\"threads\": \(snapshot.threads.count), \"pause\": \(Double(end.pauseNanoseconds) / 1e9), "
      + "\"total\": \(Double(end.totalNanoseconds) / 1e9), \"words\": \(end.wordCount), \"captured\": \(end.capturedBytes)}"
  )
}
