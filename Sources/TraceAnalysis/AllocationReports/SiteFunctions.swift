// Finds the program's function that a site belongs to.

import PlatformRules
import TextWriting
import TraceReading
import TraceSymbolication

/// The owner of a site. Sites with the same owner are joined.
enum SiteOwner: Hashable {
  /// The program's innermost function on the stack, by its name and its loaded image.
  case function(String, image: String)
  /// No function of the program is on the stack, so each stack is separate.
  case library(stack: UInt32)
  /// Memory that C libraries allocate once and keep. Examples are the buffer of a stream such as standard output, and
  /// memory for exceptions: an initializer of libstdc++ allocates it when the loader calls it (71 KiB in GCC 12).
  case cLibrary(stack: UInt32)
}

/// Finds the owners of sites. Visits each node of the stack tree once. For one thread at a time.
struct SiteFunctions {
  private struct Place {
    /// Number of the program's innermost function among this frame and its callers; −1 if there is none.
    var function: Int32
    /// True if the outermost frame is in the loader.
    var isLoaders: Bool
    /// True if the stack includes the function that allocates stream buffers.
    var isOfStream = false
  }

  private let definitions: TraceDefinitions
  private let naming: any FrameNaming
  private var places: [UInt32: Place] = [:]
  private var owners: [SiteOwner] = []
  private var numbers: [SiteOwner: Int32] = [:]

  private static let streamBuffers = RuleBook.shipped.table(.streamBuffer, by: .symbol)
  private static let loaders = RuleBook.shipped.table(.loader, by: .image)

  init(_ definitions: TraceDefinitions, naming: any FrameNaming) {
    (self.definitions, self.naming) = (definitions, naming)
  }

  /// Returns the owner of a stack. O(frames that were not seen before), plus a name look-up for each of them.
  mutating func owner(ofStack stack: StackID) -> SiteOwner {
    var pending: [StackID] = []
    var current = stack
    while places[current.rawValue] == nil, current.rawValue > 1, pending.count < StackTree.pathLimit {
      pending.append(current)
      current = definitions.stacks.parent(of: current)
    }
    var place = places[current.rawValue] ?? Place(function: -1, isLoaders: false)
    var isOutermost = places[current.rawValue] == nil
    for next in pending.reversed() {
      if let frame = definitions.stacks.frame(of: next) {
        if isOutermost { place.isLoaders = isLoader(frame) }
        let sources = naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image })
        if let source = sources.first(where: { $0.kind == .user }) { place.function = number(of: source) }
        if sources.contains(where: { $0.mangledName.map { Self.streamBuffers.matches($0) } ?? false }) {
          place.isOfStream = true
        }
      }
      isOutermost = false
      places[next.rawValue] = place
    }
    if place.isOfStream || place.isLoaders && place.function < 0 { return .cLibrary(stack: stack.rawValue) }
    return place.function >= 0 ? owners[Int(place.function)] : .library(stack: stack.rawValue)
  }

  private mutating func number(of source: SourceFrame) -> Int32 {
    let owner = SiteOwner.function(source.fullFunction, image: source.imagePath ?? "")
    if let known = numbers[owner] { return known }
    let number = Int32(truncatingIfNeeded: owners.count)
    owners.append(owner)
    numbers[owner] = number
    return number
  }

  private func isLoader(_ frame: StackFrame) -> Bool {
    guard let image = frame.image else { return false }
    return Self.loaders.matches(fileName(ofPath: definitions.images[image].image.path))
  }
}
