// The owner of a registration: the program, or a package that registers its own objects with its own callbacks.

import HeapAnalysis
import TraceSymbolication

/// Determines who must end a registration. For one thread at a time.
///
/// If a package sets a timer for an object of its own, with a callback of its own, the package must cancel the timer.
/// The program has access to neither. The program must end the registration in three cases. It made the object by
/// itself (calling an initialiser gives it something to end), it wrote the callback, or it gave the object something of
/// its own, such as a handler.
struct RegistrationOwner {
  private let graph: ObjectGraph
  private let naming: FindingNaming
  private let ownership: OwnershipTrees

  init(_ graph: ObjectGraph, naming: FindingNaming, ownership: OwnershipTrees) {
    self.graph = graph
    self.naming = naming
    self.ownership = ownership
  }

  /// Returns the reason why the program does not have to end a registration; nil if it has to, or if the owner is not
  /// known. O(path + blocks that would be freed with the shown object).
  func libraryReason(_ group: SurvivorGroup, _ registration: Finding.Registration?) -> String? {
    guard let registration, Self.callsBack(registration),
      let package = maker(of: group.sample, isInitialiserLeftOut: true)
    else { return nil }
    let behind = group.path[(group.suspect + 1)...].map(\.node).filter { !graph.isRoot($0) }
    // If the program made a callback or another part, the program registered the object.
    guard behind.dropLast().allSatisfy({ isPackages($0) }),
      behind.contains(where: { $0 != group.sample && maker(of: $0, isInitialiserLeftOut: false) != nil })
    else { return nil }
    let callbacks = behind.filter { [.closure, .box].contains(graph.type(of: $0).kind) }
    guard (callbacks + [group.sample]).allSatisfy({ keepsNothingOfTheProgram($0) }) else { return nil }
    return "made and registered by the package \(package) for itself"
  }

  /// Returns whether a registration calls back when a time comes or an event happens. Tasks and threads are work. They
  /// may be the program's, whichever code started them.
  private static func callsBack(_ registration: Finding.Registration) -> Bool {
    switch registration {
    case .timer, .observer, .observation, .dispatchSource, .fileHandle, .dispatchWork, .eventLoop: true
    case .task, .taskGroup, .urlSession, .thread: false
    }
  }

  /// Returns the package whose function made a node; nil if the function was the program's or the platform's. The
  /// caller of an initialiser makes the object.
  private func maker(of node: NodeID, isInitialiserLeftOut: Bool) -> String? {
    let frames = naming.frames(of: graph.heap[BlockID(node)].site)
    let type = graph.type(of: node)
    let head = type.name.prefix { $0 != "<" }
    let user = frames.filter { $0.kind == .user }
    // If the program wrote an initialiser of the class, the class is the program's.
    guard let first = user.first, let own = naming.packages.package(of: first, among: frames) else { return nil }
    guard isInitialiserLeftOut, type.kind == .object else { return own }
    return user.first { !DeclarationName.isInitialiser($0.function, of: head) }.flatMap {
      naming.packages.package(of: $0, among: frames)
    }
  }

  private func isPackages(_ node: NodeID) -> Bool {
    switch graph.type(of: node).kind {
    case .closure, .box, .object, .task:
      let isPlatforms = naming.frames(of: graph.heap[BlockID(node)].site).allSatisfy { $0.kind != .user }
      return isPlatforms || maker(of: node, isInitialiserLeftOut: false) != nil
    default: return true
    }
  }

  /// Returns whether a node alone keeps no object and no closure of the program.
  private func keepsNothingOfTheProgram(_ start: NodeID) -> Bool {
    var seen: Set<NodeID> = [start]
    var pending = [start]
    while let node = pending.popLast() {
      for edge in graph.graph.edges(from: node)
      where ObjectGraph.owning.contains(EdgeKinds(kind: graph.graph.kind(of: edge))) {
        let target = graph.graph.target(of: edge)
        guard !graph.isRoot(target), ownership.isOnlyHeld(target, through: start), seen.insert(target).inserted else {
          continue
        }
        guard seen.count < Self.keptLimit, isPackages(target) else { return false }
        pending.append(target)
      }
    }
    return true
  }

  /// Maximum number of blocks examined for one object. A package's connection with its buffers has some hundreds.
  /// Beyond the limit, the owner is not determined.
  private static let keptLimit = 4096
}
