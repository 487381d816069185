// The tasks of a heap image as a profile for pprof.

import LeakDetection
import TextWriting
import TraceReading
import TraceSymbolication

/// The tasks of a heap image by their stacks, in pprof's format.
///
/// A sample has a row's number of tasks, and the bytes that they keep. Its labels are the keys of the JSON: `state`,
/// `wait` and `resumedBy`. Names have no control characters and no text-direction marks.
package struct TaskProfile {
  private let rows: [TaskInventory.Row]
  private let program: String
  private let buildID: [UInt8]
  private let time: UInt64

  /// - Parameters:
  ///   - rows: the rows to write.
  ///   - trace: names the program, and says when the recording began.
  ///   - snapshot: the image of the rows.
  package init(_ rows: [TaskInventory.Row], _ trace: AllocationAnalysis, _ snapshot: TraceSnapshot) {
    self.rows = rows
    program = trace.definitions.process.executable
    buildID = trace.definitions.images.first { [program] in $0.image.path == program }?.image.buildID ?? []
    let start = trace.header.startRealtime
    let seconds = trace.clock.seconds(at: snapshot.time) ?? 0
    time = start == 0 ? 0 : start &+ (UInt64(exactly: (seconds * 1e9).rounded()) ?? 0)
  }

  /// Returns the file, compressed as pprof expects. O(frames of all rows).
  /// - Returns: nil if there is not enough memory to compress the profile.
  package func file() -> [UInt8]? { GzipFile.compressed(message()) }

  /// Returns the message before compression.
  func message() -> [UInt8] {
    var strings = PprofStrings()
    var writer = ProtobufWriter()
    let (tasks, count) = (strings["tasks"], strings["count"])
    for (type, unit) in [(tasks, count), (strings["retained_space"], strings["bytes"])] {
      writer.message(PprofField.sampleType) {
        $0.field(1, type)
        $0.field(2, unit)
      }
    }
    var places = Places()
    for row in rows { write(row, &places, &strings, &writer) }
    let (path, identifier) = (strings[PlainText.escaped(program)], strings[Hexadecimal.digits(buildID)])
    writer.message(PprofField.mapping) {
      $0.field(1, 1 as UInt64)
      $0.field(5, path)
      $0.field(6, identifier)
      // The profile has all names; pprof must not search for the file.
      for known in 7...9 { $0.field(known, true) }
    }
    for (index, place) in places.all.enumerated() {
      writer.message(PprofField.location) { writer in
        writer.field(1, UInt64(index + 1))
        writer.field(2, 1 as UInt64)
        writer.message(4) {
          $0.field(1, UInt64(place.function + 1))
          $0.field(2, Int64(place.line))
        }
      }
    }
    for (index, function) in places.functions.enumerated() {
      let (name, mangled, file) = (strings[function.name], strings[function.mangledName], strings[function.file])
      writer.message(PprofField.function) {
        $0.field(1, UInt64(index + 1))
        $0.field(2, name)
        $0.field(3, mangled)
        $0.field(4, file)
      }
    }
    writer.field(PprofField.timeNanoseconds, Int64(clamping: time))
    writer.message(PprofField.periodType) {
      $0.field(1, tasks)
      $0.field(2, count)
    }
    writer.field(PprofField.period, 1 as UInt64)
    writer.field(PprofField.defaultSampleType, tasks)
    for text in strings.all { writer.element(PprofField.stringTable, text) }
    return writer.bytes
  }

  private func write(
    _ row: TaskInventory.Row, _ places: inout Places, _ strings: inout PprofStrings, _ writer: inout ProtobufWriter
  ) {
    let locations = stack(of: row).map { places.location(of: $0) }
    var labels: [(key: Int64, value: Int64)] = []
    for (key, value) in [("state", row.state.rawValue), ("wait", row.wait?.key), ("resumedBy", row.resumer?.key)] {
      if let value { labels.append((strings[key], strings[value])) }
    }
    writer.message(PprofField.sample) { writer in
      writer.packed(1, locations.lazy.map { UInt64($0 + 1) })
      writer.packed(2, [UInt64(row.count), max(row.bytes, row.retainedBytes)])
      for label in labels {
        writer.message(3) {
          $0.field(1, label.key)
          $0.field(2, label.value)
        }
      }
    }
  }

  /// Returns the functions of a row, innermost first, without the compiler's thunks. A row without a stack has its state
  /// as its function, so that each task counts in a viewer.
  private func stack(of row: TaskInventory.Row) -> [Function] {
    var stack = row.stack.filter { $0.kind != .thunk }.map(Function.init)
    if stack.isEmpty { stack.append(Function(name: "[\(row.state.rawValue)]")) }
    if let function = row.function.map(Function.init), !stack.contains(where: { $0.isSame(function) }) {
      stack.append(function)
    }
    return stack
  }

  /// A function with a line, as the profile names it.
  private struct Function: Hashable {
    var name: String
    /// The linker's name, or `name` if that is unknown.
    var mangledName: String
    var file = ""
    var line = 0

    init(name: String) { (self.name, mangledName) = (name, name) }

    init(_ frame: SourceFrame) {
      name = PlainText.escaped(frame.closureTitle)
      mangledName = frame.mangledName.map(PlainText.escaped) ?? name
      (file, line) = (PlainText.escaped(frame.file ?? ""), frame.line ?? 0)
    }

    func isSame(_ other: Self) -> Bool { name == other.name && file == other.file }
  }

  /// Numbers the places and the functions of all stacks.
  private struct Places {
    private(set) var all: [(function: Int, line: Int)] = []
    private(set) var functions: [Function] = []
    private var numbers: [Function: Int] = [:]
    private var functionNumbers: [Function: Int] = [:]

    mutating func location(of function: Function) -> Int {
      if let known = numbers[function] { return known }
      var whole = function
      whole.line = 0
      let number = functionNumbers[whole] ?? functions.count
      if number == functions.count {
        functions.append(whole)
        functionNumbers[whole] = number
      }
      all.append((number, function.line))
      numbers[function] = all.count - 1
      return all.count - 1
    }
  }
}
