// Collapsed stacks: one line a stack, as flamegraph.pl, inferno and speedscope read them.

import TraceReading

/// Text with a line for each call stack: its frames from the outermost to the innermost with semicolons in between, the
/// type that was allocated as the last of them, a space, and a number.
package enum CollapsedStacks {
  /// The lines of all stacks that have some of `measure`, sorted, equal stacks joined. O(n log n) for the frames of all
  /// samples.
  package static func text(_ profile: StackProfile, _ measure: ProfileMeasure) -> String {
    var sums: [String: UInt64] = [:]
    let names = profile.functions.map { frame($0.name) }
    for sample in profile.samples {
      let value = measure.value(of: sample)
      guard value > 0 else { continue }
      var line = sample.isCut ? "…;" : ""
      for location in sample.locations.reversed() {
        for each in profile.locations[location].lines.reversed() {
          line += names[each.function]
          line += ";"
        }
      }
      line += frame(sample.type)
      sums[line, default: 0] &+= value
    }
    return sums.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { "\($0.key) \($0.value)\n" }.joined()
  }

  /// A semicolon would separate frames.
  private static func frame(_ name: String) -> String { name.replacing(";", with: ",") }
}
