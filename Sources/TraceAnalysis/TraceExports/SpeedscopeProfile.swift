// Profiles for speedscope.app.

import TextWriting
import TraceReading

/// A document in speedscope's own format: a list of distinct frames, and one profile for each measure.
///
/// Source: the JSON schema of speedscope, version 0.0.1 of its file format.
package enum SpeedscopeProfile {
  /// Returns a document with a profile for each of `measures`. Equal stacks are joined. A profile without samples is
  /// left out. `exporter`: name and version of this program. O(n log n) for the frames of all samples.
  package static func text(_ profile: StackProfile, _ measures: [ProfileMeasure], exporter: String) -> String {
    var frames = Frames(profile)
    let stacks = joined(profile, measures, &frames)
    let profiles = measures.indices.compactMap { index in
      document(of: measures[index], stacks.compactMap { $0.sums[index] > 0 ? ($0.text, $0.sums[index]) : nil })
    }
    func quoted(_ text: String) -> String { JSONValue.string(text).text }
    return """
      {"$schema":"https://www.speedscope.app/file-format-schema.json","name":\(quoted(fileName(ofPath: profile.program))),\
      "exporter":\(quoted(exporter)),"shared":{"frames":[\(frames.documents.joined(separator: ",\n"))]},"profiles":[
      \(profiles.joined(separator: ",\n"))]}

      """
  }

  /// The frames of the document, by number.
  private struct Frames {
    /// The frames as JSON: first the functions, then the mark of a cut stack, then types in order of appearance.
    private(set) var documents: [String]
    let cut: Int
    private var types: [String: Int] = [:]

    init(_ profile: StackProfile) {
      cut = profile.functions.count
      documents = profile.functions.map { function in
        JSONValue.object(
          [("name", .string(function.name))] + (function.file.isEmpty ? [] : [("file", .string(function.file))])
        ).compactText
      }
      documents.append(Self.document("…"))
    }

    mutating func number(ofType name: String) -> Int {
      if let known = types[name] { return known }
      let number = documents.count
      documents.append(Self.document(name))
      types[name] = number
      return number
    }

    private static func document(_ name: String) -> String { JSONValue.object([("name", .string(name))]).compactText }
  }

  private struct Stack {
    /// The frame numbers as a JSON array, outermost first.
    var text: String
    /// The sums, by measure.
    var sums: [UInt64]
  }

  /// Returns the stacks in order of their text. Equal stacks have equal texts, so they are joined.
  private static func joined(_ profile: StackProfile, _ measures: [ProfileMeasure], _ frames: inout Frames) -> [Stack] {
    var sums: [String: [UInt64]] = [:]
    for sample in profile.samples {
      let values = measures.map { $0.value(of: sample) }
      guard values.contains(where: { $0 > 0 }) else { continue }
      var text = sample.isCut ? "[\(frames.cut)," : "["
      for location in sample.locations.reversed() {
        for line in profile.locations[location].lines.reversed() { text += "\(line.function)," }
      }
      text += "\(frames.number(ofType: sample.type))]"
      var known = sums[text] ?? [UInt64](repeating: 0, count: measures.count)
      for index in values.indices { known[index] &+= values[index] }
      sums[text] = known
    }
    return sums.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map {
      Stack(text: $0.key, sums: $0.value)
    }
  }

  /// Returns one profile; nil if no stack is in it.
  private static func document(of measure: ProfileMeasure, _ stacks: [(text: String, value: UInt64)]) -> String? {
    guard !stacks.isEmpty else { return nil }
    let sum = stacks.reduce(0 as UInt64) { $0 &+ $1.value }
    return """
      {"type":"sampled","name":"\(measure.title)","unit":"\(measure.unit == .bytes ? "bytes" : "none")",\
      "startValue":0,"endValue":\(sum),"samples":[\(stacks.lazy.map(\.text).joined(separator: ","))],\
      "weights":[\(stacks.lazy.map { String($0.value) }.joined(separator: ","))]}
      """
  }
}
