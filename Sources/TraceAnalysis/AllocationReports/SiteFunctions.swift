// The program's functions that the sites of a trace belong to.

import PlatformRules
import TraceReading
import TraceSymbolication

/// The key that joins sites: the program's innermost function on the stack.
enum SiteOwner: Hashable {
  /// A function by its name and its image.
  case function(String, image: String)
  /// The program has no function on the stack: each stack is separate.
  case library(stack: UInt32)
  /// Memory that C libraries allocate once and keep. Examples are memory for exceptions that an initialiser of
  /// libstdc++ allocates when the loader calls it (71 KiB in GCC 12), and the buffer of a stream such as standard
  /// output.
  case cLibrary(stack: UInt32)
}

/// Finds the owners of sites. Visits each node of the stack tree once. For one thread at a time.
struct SiteFunctions {
  private struct Place {
    /// The program's innermost function, from here outwards.
    var function: Int32
    /// The outermost frame is the loader's.
    var isLoaders: Bool
    /// The stack is in the function that allocates stream buffers.
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

  /// O(the part of the stack that is not known yet), and names for new frames.
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
