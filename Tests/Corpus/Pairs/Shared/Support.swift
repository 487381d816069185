// Shared by all programs of the pairs: work with a side effect, and a barrier against the optimiser.

import Glibc

nonisolated(unsafe) private var workDone = 0
nonisolated(unsafe) private var lastUsed: AnyObject?

@inline(never) func note(_ value: Int) { workDone = workDone &* 31 &+ value }

/// Lets an object escape as far as the optimiser can tell.
@inline(never) func use(_ object: AnyObject) {
  if workDone == .min { lastUsed = object }
}

/// The program's argument at a position, counted from 1, as a number.
func argument(_ position: Int, or other: Int) -> Int {
  CommandLine.arguments.count > position ? Int(CommandLine.arguments[position]) ?? other : other
}
