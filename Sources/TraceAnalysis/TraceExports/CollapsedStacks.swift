// Collapsed stacks, with one line per stack. flamegraph.pl, inferno and speedscope read this format.

import TraceReading

/// Text with one line per call stack. A line has the frames from the outermost to the innermost, separated by
/// semicolons. The allocated type is the last frame. A space and a number follow.
package enum CollapsedStacks {
  /// Returns the lines of all stacks whose `measure` is above 0, sorted and with equal stacks joined. O(n log n) for
  /// the frames of all samples.
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

  /// Replaces semicolons, which would separate frames.
  private static func frame(_ name: String) -> String { name.replacing(";", with: ",") }
}
