// Profiles for pprof, and for all tools that read pprof's files.

import TextWriting
import TraceReading

/// A profile in pprof's format.
///
/// Source of the field numbers: profile.proto of github.com/google/pprof. Sample types begin as in Go's heap profiles:
/// first allocated objects and bytes, then objects and bytes in use. Viewers show the bytes in use first.
package enum PprofProfile {
  /// Returns the file, compressed as pprof expects. O(frames of all samples).
  /// - Returns: nil if there is not enough memory to compress the profile.
  package static func file(_ profile: StackProfile) -> [UInt8]? { GzipFile.compressed(message(profile)) }

  /// Returns the message before compression.
  static func message(_ profile: StackProfile) -> [UInt8] {
    var strings = PprofStrings()
    var writer = ProtobufWriter()
    let measures = profile.measures
    for measure in measures {
      let (type, unit) = (strings[measure.sampleType], strings[measure.unit.rawValue])
      writer.message(PprofField.sampleType) {
        $0.field(1, type)
        $0.field(2, unit)
      }
    }
    write(profile.samples, measures, &strings, &writer)
    write(profile.images, of: profile, &strings, &writer)
    for (index, location) in profile.locations.enumerated() {
      writer.message(PprofField.location) { writer in
        writer.field(1, UInt64(index + 1))
        writer.field(2, UInt64((location.image ?? -1) + 1))
        writer.field(3, location.address)
        for line in location.lines {
          writer.message(4) {
            $0.field(1, UInt64(line.function + 1))
            $0.field(2, Int64(line.line))
          }
        }
      }
    }
    for (index, function) in profile.functions.enumerated() {
      let (name, mangled, file) = (
        strings[function.name], strings[function.mangledName.isEmpty ? function.name : function.mangledName],
        strings[function.file]
      )
      writer.message(PprofField.function) {
        $0.field(1, UInt64(index + 1))
        $0.field(2, name)
        $0.field(3, mangled)
        $0.field(4, file)
      }
    }
    let shown = strings[ProfileMeasure.liveBytes.sampleType]
    writer.field(PprofField.timeNanoseconds, Int64(clamping: profile.startTime))
    if let duration = profile.duration { writer.field(PprofField.durationNanoseconds, nanoseconds(duration)) }
    writer.field(PprofField.defaultSampleType, shown)
    for text in strings.all { writer.element(PprofField.stringTable, text) }
    return writer.bytes
  }

  private static func write(
    _ samples: [StackProfile.Sample], _ measures: [ProfileMeasure], _ strings: inout PprofStrings,
    _ writer: inout ProtobufWriter
  ) {
    let typeLabel = strings["type"]
    for sample in samples {
      let type = strings[sample.type]
      writer.message(PprofField.sample) { writer in
        writer.packed(1, sample.locations.lazy.map { UInt64($0 + 1) })
        writer.packed(2, measures.lazy.map { $0.value(of: sample) })
        writer.message(3) {
          $0.field(1, typeLabel)
          $0.field(2, type)
        }
      }
    }
  }

  private static func write(
    _ images: [LoadedImage], of profile: StackProfile, _ strings: inout PprofStrings, _ writer: inout ProtobufWriter
  ) {
    var isNamed = [Bool](repeating: false, count: images.count)
    var hasLines = isNamed
    for location in profile.locations {
      guard let image = location.image else { continue }
      for line in location.lines {
        if !profile.functions[line.function].mangledName.isEmpty { isNamed[image] = true }
        if line.line > 0 { hasLines[image] = true }
      }
    }
    for (index, image) in images.enumerated() {
      let (path, buildID) = (strings[image.path], strings[Hexadecimal.digits(image.buildID)])
      writer.message(PprofField.mapping) {
        $0.field(1, UInt64(index + 1))
        $0.field(2, image.range.lowerBound.rawValue)
        $0.field(3, image.range.upperBound.rawValue)
        // File offset of the first mapped byte. An address minus the load bias is an offset of the same kind.
        $0.field(4, image.range.lowerBound.rawValue &- image.loadBias)
        $0.field(5, path)
        $0.field(6, buildID)
        // The profile has all names; pprof must not search for the file.
        $0.field(7, isNamed[index])
        $0.field(8, hasLines[index])
        $0.field(9, hasLines[index])
        $0.field(10, hasLines[index])
      }
    }
  }

  /// Converts seconds to nanoseconds; returns 0 for more than three centuries.
  private static func nanoseconds(_ seconds: Double) -> Int64 { Int64(exactly: (seconds * 1e9).rounded()) ?? 0 }
}
