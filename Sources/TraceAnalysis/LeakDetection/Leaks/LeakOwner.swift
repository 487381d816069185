// The owner of a leak: the program, a library, or the runtime, which keeps memory for itself.

import HeapAnalysis
import PlatformRules
import TraceReading
import TraceSymbolication

/// The party that has to free the leaked memory.
enum LeakOwner {
  case program
  /// The reason states why the memory is not the program's.
  case library(String)
  /// Memory that the Swift or C runtime keeps for itself.
  case runtime
  /// Neither a recorded allocation nor the contents show the owner.
  case unknown
}

/// Determines owners by types and by the functions that requested the memory. For one thread at a time.
///
/// If a function hands out memory, its caller owns the memory. Any function of the C library may hand out memory
/// (`strdup`, `getline`, `open_memstream`), so the rules name only the functions that keep their memory. If a library
/// with its own data structures called that function, this library owns the memory.
struct OwnerSearch {
  private let graph: ObjectGraph
  private let naming: FindingNaming

  private let contents: ContentsOwner

  init(_ graph: ObjectGraph, naming: FindingNaming) {
    (self.graph, self.naming) = (graph, naming)
    contents = ContentsOwner(graph, definitions: naming.definitions)
  }

  func owner(of group: LeakGroup) -> LeakOwner {
    let nodes = group.steps.map(\.node)
    if nodes.isEmpty, let ended = group.ended { return user(of: ended) }
    guard let first = nodes.first, let last = nodes.last else { return .program }
    if let dangling = group.dangling {
      let type = graph.type(of: first)
      // Collections are the library's, but their elements are the program's.
      if type.kind.isCollection, let declared = graph.label(dangling.label.rawValue)?.typeName, isProgramType(declared)
      {
        return .program
      }
      return SystemCode.isSystemModule(type.module) ? .runtime : .program
    }
    if let known = nodes.lazy.compactMap({ KnownLibraryLeaks.shipped.reason(graph.type(of: $0)) }).first,
      !group.isCycle || nodes.allSatisfy(isSystemObject)
    {
      return .library(known)
    }
    let target = group.verdict == .deinitialised ? last : first
    if group.isCycle {
      guard nodes.allSatisfy(isSystemObject) else { return .program }
      return nodes.contains { graph.type(of: $0).kind != .malloc }
        ? .library("every object of the cycle belongs to a library")
        : allocator(of: target, isObject: false, in: group)
    }
    let type = graph.type(of: target)
    if type.kind == .task { return .program }
    return allocator(of: target, isObject: type.kind.isCounted, in: group)
  }

  /// Returns the owner of an object that was used after its end. The program is the owner if the object is the
  /// program's, or if the program called the code that used it.
  private func user(of ended: EndedBlock) -> LeakOwner {
    let type = naming.type(of: ended)
    guard type.kind == .object, SystemCode.isSystemModule(type.module) else { return .program }
    let frames = naming.frames(of: ended.used?.stack ?? .unknown)
    if frames.isEmpty || frames.contains(where: { $0.kind == .user }) { return .program }
    return .library(
      "used inside \(frames.first { $0.kind == .systemLibrary && $0.isNamed }?.function ?? "a library") without a caller in the program"
    )
  }

  /// Returns whether an object is neither of the program's classes nor a closure that the program wrote.
  private func isSystemObject(_ node: NodeID) -> Bool {
    let type = graph.type(of: node)
    switch type.kind {
    case .object:
      return SystemCode.isSystemModule(type.module)
        && !TypeNames.arguments(type.qualifiedName).contains { isProgramType($0) }
    case .task: return false
    case .closure, .box:
      // A closure belongs to the code that made it.
      let frames = naming.frames(of: graph.heap[BlockID(node)].site)
      if frames.isEmpty { return !contents.isProgramsOwn(type) }
      return frames.first {
        !AllocationFunctions.isOne($0) && $0.kind != .thunk
      }?.kind != .user
    default: return true
    }
  }

  private func isProgramType(_ name: String) -> Bool {
    guard let dot = name.firstIndex(of: ".") else { return false }
    return !SystemCode.isSystemModule(String(name[..<dot]))
  }

  // MARK: Who called for it

  /// Searches the stack from the allocation outwards for the function that needs the memory. This is a function of the
  /// program. If a tail call removed the program's frame, it is a function that called the program.
  private func allocator(of node: NodeID, isObject: Bool, in group: LeakGroup) -> LeakOwner {
    let type = graph.type(of: node)
    var frames = naming.frames(of: graph.heap[BlockID(node)].site)
    if frames.isEmpty {
      // For unsampled blocks and inspected processes, only the type is known.
      let owner = contents.owner(of: node, keeping: group.held)
      if case .program = owner { return owner }
      guard let stack = group.sampledStack else { return owner }
      frames = naming.frames(of: stack)
      if frames.isEmpty { return owner }
    }
    let inner = frames.drop { AllocationFunctions.isOne($0) || $0.kind == .thunk }
    guard let first = inner.first else { return .runtime }
    if type.kind == .object, !SystemCode.isSystemModule(type.module) { return .program }
    if !isObject, let library = systemDependency(inner) ?? packageDependency(inner) { return .library(library) }
    if first.kind == .user { return .program }
    let between = inner.prefix { $0.kind != .user && !(AllocationFunctions.callsProgram($0) && !isObject) }
    let hasCaller = between.count < inner.count
    if !isObject, between.contains(where: { AllocationFunctions.isRuntimeInternal($0) }) { return .runtime }
    if !hasCaller {
      if isObject { return .library("made by \(first.function) without a caller in the program") }
      return .runtime
    }
    let own = type.name.prefix { $0 != "<" }
    for frame in between {
      if frame.kind == .thunk || AllocationFunctions.isTransparent(frame) { continue }
      if type.kind == .object,
        frame.function.contains("\(own).init(") || frame.function.contains("\(own).__allocating_init(")
      {
        continue
      }
      return .library("made inside \(frame.function)")
    }
    return .program
  }

  /// Returns the reason why memory from a shared library of the operating system, such as libcurl, is not the
  /// program's. Either a library of the platform, such as Foundation, called the shared library, or the shared library
  /// runs on its own thread. Nil if the program called the shared library.
  private func systemDependency(_ frames: ArraySlice<SourceFrame>) -> String? {
    guard let first = frames.first(where: { !AllocationFunctions.isTransparent($0) }), naming.isOfOperatingSystem(first)
    else { return nil }
    let name = first.imageName ?? "a library"
    for frame in frames {
      if frame.kind == .user {
        if !naming.isOfOperatingSystem(frame) { return nil }
      } else if AllocationFunctions.isStartOfMain(frame) {
        return nil
      } else if frame.kind == .systemLibrary, !AllocationFunctions.isTransparent(frame),
        !AllocationFunctions.callsProgram(frame)
      {
        return "made inside \(name), which \(frame.imageName ?? "a library") called"
      }
    }
    return "made inside \(name) without a caller in the program"
  }

  /// Returns the reason why memory that a package requested is not the program's. It is not if the package's own Swift
  /// code requested the memory from its C code or the C library, and gave the program no pointer. Nil if the program
  /// requested the memory, or received a pointer.
  private func packageDependency(_ frames: ArraySlice<SourceFrame>) -> String? {
    let all = Array(frames)
    for frame in frames {
      if frame.kind == .systemLibrary, !AllocationFunctions.isTransparent(frame),
        AllocationFunctions.isRuntimeInternal(frame)
      {
        return nil
      }
      guard frame.kind == .user else { continue }
      guard let package = naming.packages.package(of: frame, among: all) else { return nil }
      if Self.isSwift(frame), !Self.givesPointer(frame) {
        return "made inside \(frame.function), which the package \(package) has to free"
      }
    }
    return nil
  }

  private static func isSwift(_ frame: SourceFrame) -> Bool { frame.mangledName?.hasPrefix("$s") ?? false }

  /// Returns whether a function may give its caller a pointer, by its result type or its name. The caller may have to
  /// free the memory.
  private static func givesPointer(_ frame: SourceFrame) -> Bool {
    let name = frame.fullFunction
    let result = name.range(ofLast: " -> ").map { name[$0...] } ?? name[...]
    return pointers.matches(result) || functionsWithPointers.matches(name)
  }

  private static let pointers = RuleBook.shipped.table(.givesPointer, by: .type)
  private static let functionsWithPointers = RuleBook.shipped.table(.givesPointer, by: .function)
}

extension String {
  /// Returns the start index of the last occurrence of a text; nil if there is none.
  fileprivate func range(ofLast text: String) -> Index? {
    var index = endIndex
    while index > startIndex {
      index = self.index(before: index)
      if self[index...].hasPrefix(text) { return index }
    }
    return nil
  }
}
