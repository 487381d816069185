// Names for tests, from a table.

@testable import TraceReading
@testable import TraceSymbolication

/// Names addresses from a table. Names other addresses by image and offset.
package struct TableNaming: FrameNaming {
  package var frames: [UInt64: [SourceFrame]] = [:]
  package var remarks: [String] = []

  package init() {}

  /// Adds a frame at an address, outside of the frames added before.
  package mutating func add(
    _ address: UInt64, _ function: String, file: String? = nil, line: Int? = nil, kind: SourceFrame.Kind = .user,
    image: String = "/bin/app",
    full: String? = nil
  ) {
    frames[address, default: []].append(
      SourceFrame(
        function: function, fullFunction: full ?? function, mangledName: "$s\(function)", imagePath: image, file: file,
        line: line,
        column: nil, isInlined: false, kind: kind, isAsync: false, asyncPart: nil))
    // Each frame except the outermost is inlined into the next one.
    for index in frames[address]!.indices.dropLast() { frames[address]![index].isInlined = true }
  }

  package func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
    frames[key.address.rawValue] ?? OffsetNaming().frames(for: key, in: image)
  }
}
