// The call stacks of a run with their allocations, for flame graphs and for profiles in other tools' formats.

import TextWriting
import TraceReading
import TraceSymbolication

/// All allocation sites of one trace, with the names of their frames. Each distinct frame is named once.
///
/// Names have no control characters and no text-direction marks. Memory is proportional to the trace's sites and the
/// frames of their stacks.
package struct StackProfile: Sendable {
  /// A place in a function. If calls were inlined, one address has several places.
  package struct Line: Hashable, Sendable {
    /// Index into `functions`.
    package var function: Int
    /// The line number, starting at 1; 0 if unknown.
    package var line: Int
  }

  package struct Function: Hashable, Sendable {
    /// A readable name: see `SourceFrame.function`.
    package var name: String
    /// The linker's name; empty if unknown.
    package var mangledName: String
    /// The source file; empty if unknown.
    package var file: String
    package var kind: SourceFrame.Kind
    /// The path of the loaded image in the traced process; empty if no image contains the address.
    package var image: String
  }

  /// An address of a stack.
  package struct Location: Hashable, Sendable {
    /// The address of the call itself, not of the instruction after it.
    package var address: UInt64
    /// Index into `images`; nil if no loaded image contains the address.
    package var image: Int?
    /// The lines at the address, with the innermost inlined function first.
    package var lines: [Line]
  }

  /// The allocations of one type, or of one allocating function, by one call stack.
  package struct Sample: Sendable {
    /// Indices into `locations`, innermost first.
    package var locations: [Int]
    /// The name of the type, or of the allocating function.
    package var type: String
    package var total: SiteTotal
    /// The leaked blocks.
    package var leaked = BlockSum()
    /// True if the recorder cut the stack before the outermost frame.
    package var isCut: Bool
  }

  /// The program's path, or the trace's path if the trace does not name the program.
  package var program: String
  /// Start of the recording, in nanoseconds since 1970; 0 if the trace does not have it.
  package var startTime: UInt64
  /// Duration in seconds; nil if the clock's rate is unknown.
  package var duration: Double?
  package var images: [LoadedImage]
  package var functions: [Function] = []
  package var locations: [Location] = []
  package var samples: [Sample] = []
  /// True if retains were recorded; then 0 means that there were none.
  package var hasRetains: Bool
  /// True if a whole heap image was analyzed; then 0 leaked blocks mean that nothing leaks.
  package var hasLeaks: Bool

  /// Names the frames of all sites. `path`: the trace's path. `leaked`: the leaked blocks by site; nil if unknown.
  /// `frameLimit`: after this many frames, further stacks are cut short, so that a small trace cannot make a large
  /// profile. O(frames of all sites), plus a look-up for each distinct frame.
  package init(
    _ trace: AllocationAnalysis, path: String, leaked: [SiteID: BlockSum]?, frameLimit: Int, naming: any FrameNaming
  ) {
    let executable = trace.definitions.process.executable
    program = PlainText.escaped(executable.isEmpty ? path : executable)
    startTime = trace.header.startRealtime
    duration = trace.duration
    hasLeaks = leaked != nil
    hasRetains = trace.count(of: .retain) > 0
    images = trace.definitions.images.map(\.image)
    samples.reserveCapacity(trace.sites.count)
    var names = Names()
    var spareFrames = frameLimit
    for site in trace.sites {
      let path = trace.definitions.stacks.path(of: site.stack, limit: spareFrames > 0 ? Self.depth : Self.minDepth)
      spareFrames -= path.frames.count
      let stack = path.frames.map { names.location(of: $0, in: &self, naming) }
      samples.append(
        Sample(
          locations: stack, type: names.type(trace.typeName(of: site)), total: site.total,
          leaked: leaked?[site.number] ?? BlockSum(), isCut: path.end != .complete))
    }
  }

  /// Maximum number of frames of a stack.
  private static let depth = StackTree.pathLimit
  /// Maximum number of frames of a stack after `frameLimit` is reached.
  private static let minDepth = 32

  /// The numbers of functions, locations and types that were already named.
  private struct Names {
    private var functions: [Function: Int] = [:]
    private var locations: [StackFrame: Int] = [:]
    /// Escaped type names, by the original name. All sites of a type share one string.
    private var types: [String: String] = [:]

    mutating func type(_ name: String) -> String {
      if let known = types[name] { return known }
      let shown = PlainText.escaped(name)
      types[name] = shown
      return shown
    }

    mutating func location(of frame: StackFrame, in profile: inout StackProfile, _ naming: any FrameNaming) -> Int {
      if let known = locations[frame] { return known }
      let lines = naming.frames(for: frame.key, in: frame.image.map { profile.images[$0] }).map { source in
        Line(function: function(of: source, in: &profile), line: source.line ?? 0)
      }
      let address = frame.key.address.rawValue
      let number = profile.locations.count
      profile.locations.append(
        Location(address: frame.key.isExact ? address : address &- 1, image: frame.image, lines: lines))
      locations[frame] = number
      return number
    }

    private mutating func function(of source: SourceFrame, in profile: inout StackProfile) -> Int {
      let function = Function(
        name: PlainText.escaped(source.function), mangledName: PlainText.escaped(source.mangledName ?? ""),
        file: PlainText.escaped(source.file ?? ""), kind: source.kind, image: source.imagePath ?? "")
      if let known = functions[function] { return known }
      let number = profile.functions.count
      profile.functions.append(function)
      functions[function] = number
      return number
    }
  }
}
