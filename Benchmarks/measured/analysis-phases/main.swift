// Measures the phases of `leaktrace analyze` that find leaks.
// Usage: analysis-phases TRACE
//
// The leak analysis includes the phases `image` and `order of blocks`. They are also measured separately before it.

import Glibc
import PhaseMeter
import TraceAnalysis

let reader = try PhaseMeter.measure("open") { try TraceReader(path: CommandLine.arguments[1]) }
guard let snapshot = reader.snapshots.last(where: \.isWhole) else { fatalError("no whole heap image") }
let allocations = PhaseMeter.measure("replay") { AllocationAnalysis(reader, snapshot: snapshot) }
PhaseMeter.note("blocks", allocations.blocksAtSnapshot.count)
PhaseMeter.measure("image") {
  var diagnostics = TraceDiagnostics()
  PhaseMeter.note("words", HeapImage(snapshot, in: reader, diagnostics: &diagnostics).wordCount)
}
PhaseMeter.measure("order of blocks") { PhaseMeter.note("ordered", LiveHeap(allocations.blocksAtSnapshot).count) }
let symbolicator = Symbolicator(images: allocations.definitions.images.map(\.image), search: DebugFileSearch())
let path = getenv("PATH").map { String(cString: $0) } ?? ""
let leaks = PhaseMeter.measure("leak analysis") {
  LeakAnalysis(reader, allocations, snapshot: snapshot, toolPath: path, naming: symbolicator)
}
PhaseMeter.note("edges", leaks.graph.graph.edgeCount)
let findings = PhaseMeter.measure("findings") { leaks.findings() }
PhaseMeter.note("instances", findings.reduce(0) { $0 + $1.instances })
