// Names the parts of a leaked object and the places that they came from.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Looks up names for the nodes of a graph. For one thread at a time.
final class FindingNaming {
  let graph: ObjectGraph
  let definitions: TraceDefinitions
  let clock: TraceClock
  /// Distinguishes a package's code from the program's.
  private(set) lazy var packages = PackageCode(executable: definitions.process.executable, ownModules: ownModules)
  private let ownModules: Set<String>
  /// Used only for findings that have a `way`.
  private(set) lazy var firstHolders = FirstHolders(graph)
  /// The package that contains a Swift module; nil for the program's own modules.
  var modulePackages: [String: String?] = [:]
  let naming: any FrameNaming
  private let sites: AllocationSites
  /// The stacks of sampled blocks, by the block's address. Only for a light trace.
  private let sampledStacks: [UInt64: StackID]
  private let wrappers: AllocationWrappers
  private var functions: [UInt64: SourceFrame?] = [:]
  /// Whether a part of an async function is in a loop, by the address of the part; nil if the code does not show it.
  private var loops: [UInt64: Bool?] = [:]
  private var closureCode: [SourceFrame: (name: String, address: UInt64)] = [:]
  private var captureLists: [SourceFrame: ClosureCaptures?] = [:]
  private var siteFrames: [SiteID: [SourceFrame]] = [:]
  private var keptFrames = 0
  /// Nil if only the threads' numbers are known.
  var threads: ThreadNames?
  let tests: TestNames
  private var testsByStack: [StackID: String?] = [:]
  /// The number of frames that may still be named for whole stacks.
  private(set) var spareFrames: Int

  /// `frameLimit`: the maximum number of frames that are named for whole stacks. After that, only the innermost frames
  /// of a stack are named. `ownModules`: Swift modules that the user declared as the program's own.
  init(
    _ graph: ObjectGraph, definitions: TraceDefinitions, clock: TraceClock, sites: AllocationSites,
    naming: any FrameNaming,
    frameLimit: Int = .max, ownModules: Set<String> = [], sampledStacks: [UInt64: StackID] = [:]
  ) {
    self.sampledStacks = sampledStacks
    spareFrames = frameLimit
    self.ownModules = ownModules
    self.graph = graph
    self.definitions = definitions
    self.clock = clock
    self.sites = sites
    wrappers = AllocationWrappers(definitions, naming: naming) {
      sites.lazy.filter { $0.operation != .object }.map(\.stack)
    }
    self.naming = naming
    tests = TestNames(images: graph.roots.images) { naming.demangled($0) }
  }

  /// Returns the test that was running when a stack was recorded; nil if there was no test, or none is known.
  func test(onStack stack: StackID) -> String? {
    if let known = testsByStack[stack] { return known }
    let test = tests.test(frames(of: stack))
    testsByStack[stack] = .some(test)
    return test
  }

  // MARK: Code

  /// Returns the function that begins at a code address. For the forwarder that passes a closure its context, returns
  /// the closure.
  func function(at address: UInt64) -> SourceFrame? {
    if let known = functions[address] { return known }
    guard address != 0, let image = graph.roots.image(at: address) else { return nil }
    var frame = naming.frames(for: FrameKey(address: RuntimeAddress(address), isExact: true, isAsync: false), in: image)
      .last
    let name = frame?.mangledName
    let forwarded = name.flatMap(Self.forwarded)
    if let name, let forwarded {
      if let place = naming.address(ofFunction: forwarded, in: image) {
        frame = naming.frames(for: FrameKey(address: place, isExact: true, isAsync: false), in: image).last ?? frame
        // The closure's first instructions may have no line if they come from several lines.
        if frame?.line == nil, let first = firstLine(of: forwarded, at: place.rawValue, in: image) { frame = first }
      } else if let inlined = inlined(forwarded, from: address, name, in: image) {
        frame = inlined
      }
    }
    // A function's first instructions may have no line. A function that the linker merged with others has no line at
    // all. Use the next line, or the line of the surrounding function, which are near enough.
    if let found = frame, found.line == nil, let name {
      if found.mangledName == name, let first = firstLine(of: name, at: address, in: image) {
        frame = first
      } else if found.kind != .systemLibrary, let around = surroundings(of: forwarded ?? name, in: image) {
        frame?.file = around.file
        frame?.line = around.line
      }
    }
    // A closure begins at its list of captures: use that line.
    if let begun = frame, begun.asyncPart == nil, begun.file != nil, begun.closureName.hasPrefix("closure #"),
      let closure = forwarded ?? name,
      let line = naming.line(ofClosure: closure, at: RuntimeAddress(address), in: image)
    {
      frame?.line = line
    }
    functions[address] = .some(frame)
    if let frame, let closure = forwarded ?? name { closureCode[frame] = (closure, address) }
    return frame
  }

  /// Returns the captures of a closure that `function(at:)` named; nil if they are not known.
  func captures(of closure: SourceFrame?) -> ClosureCaptures? {
    guard let closure, let code = closureCode[closure], let image = graph.roots.image(at: code.address) else {
      return nil
    }
    if let known = captureLists[closure] { return known }
    let captures = naming.captures(ofClosure: code.name, at: RuntimeAddress(code.address), in: image)
    captureLists[closure] = .some(captures)
    return captures
  }

  /// Returns the mangled name of the function that a partial application's forwarder calls; nil for other functions.
  private static func forwarded(_ name: String) -> String? {
    guard name.hasPrefix("$s"), let range = name.lastRange(of: "TA"),
      name[range.upperBound...].allSatisfy({ $0 == "." || $0 == "_" || $0.isNumber || $0 == "T" || $0 == "m" })
    else { return nil }
    return String(name[..<range.lowerBound])
  }

  /// Returns a function's frame at its first instruction that has a line.
  private func firstLine(of function: String, at address: UInt64, in image: LoadedImage) -> SourceFrame? {
    for offset in UInt64(1)..<256 {
      let frame = naming.frames(
        for: FrameKey(address: RuntimeAddress(address + offset), isExact: true, isAsync: false), in: image
      ).last
      guard let frame, frame.mangledName == function else { return nil }
      if frame.line != nil { return frame }
    }
    return nil
  }

  /// Returns the first line of a closure whose body the optimiser inlined into the closure's forwarder.
  private func inlined(_ closure: String, from address: UInt64, _ forwarder: String, in image: LoadedImage)
    -> SourceFrame?
  {
    var first: SourceFrame?
    for offset in UInt64(0)..<256 {
      let frames = naming.frames(
        for: FrameKey(address: RuntimeAddress(address &+ offset), isExact: true, isAsync: false), in: image)
      guard frames.last?.mangledName == forwarder else { break }
      if let frame = frames.first(where: { $0.mangledName == closure && $0.line != nil }) { return frame }
      if first == nil { first = frames.dropLast().first { $0.kind == .user && $0.line != nil } }
    }
    return first
  }

  /// Returns the first line of the function that contains a closure. The closure's mangled name begins with the
  /// function's mangled name. O(name²).
  private func surroundings(of closure: String, in image: LoadedImage) -> SourceFrame? {
    guard closure.hasPrefix("$s"), closure.utf8.count <= Self.nameLimit else { return nil }
    var name = closure
    while name.utf8.count > 3 {
      let last = name.removeLast()
      // The mangled name of a function, an accessor or a closure ends like this.
      guard name.last.map({ "FcCgsMZ_".contains($0) }) == true, last != "_" || name.last != "_" else { continue }
      guard let place = naming.address(ofFunction: name, in: image) else { continue }
      let frame = naming.frames(for: FrameKey(address: place, isExact: true, isAsync: false), in: image).last
      if let frame, frame.line != nil, frame.mangledName == name { return frame }
      if let first = firstLine(of: name, at: place.rawValue, in: image) { return first }
    }
    return nil
  }

  /// Maximum length of a mangled name that is searched.
  private static let nameLimit = 1_000

  /// The frames of an allocation, innermost first.
  func frames(of site: SiteID) -> [SourceFrame] {
    if let known = siteFrames[site] { return known }
    let frames = frames(of: sites[Int(site.rawValue)].stack)
    // Above the limit, the frames are not kept, and each lookup names them again.
    keptFrames += frames.count
    if keptFrames <= Self.keptFrameLimit { siteFrames[site] = frames }
    return frames
  }

  /// Maximum number of frames kept by site. Each frame takes a few hundred bytes.
  private static let keptFrameLimit = 1 << 20

  /// The frames of a stack, innermost first. Linear in its depth.
  func frames(of stack: StackID) -> [SourceFrame] {
    let path = definitions.stacks.path(of: stack, limit: spareFrames > 0 ? StackTree.pathLimit : Self.innermostFrames)
    spareFrames -= min(spareFrames, path.frames.count)
    var frames = path.frames.flatMap { self.frames(for: $0) }
    if path.end == .complete { StackBeginnings.name(&frames) }
    return frames
  }

  /// The number of innermost frames that show where in the program a stack is.
  private static let innermostFrames = 64

  /// The functions of one frame, inlined ones first.
  func frames(for frame: StackFrame) -> [SourceFrame] {
    naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image })
  }

  /// Returns the stack of a sampled block. Nil if the block was not sampled, or if the trace has all blocks.
  func sampledStack(of node: NodeID) -> StackID? {
    sampledStacks.isEmpty ? nil : sampledStacks[graph.heap[BlockID(node)].address]
  }

  func stack(of node: NodeID) -> StackID { sites[Int(graph.heap[BlockID(node)].site.rawValue)].stack }

  /// Returns whether a block was allocated before the recording of its process began.
  func isFromBefore(_ node: NodeID) -> Bool { definitions.process.isAttached && stack(of: node) == .empty }

  /// Returns the program's innermost frame that is not an initialiser of the allocated type. For memory without a type,
  /// returns the frame that called a wrapper of malloc.
  func allocation(of node: NodeID) -> SourceFrame? {
    allocation(graph.heap[BlockID(node)].site, of: graph.type(of: node))
  }

  /// Returns the program's innermost frame at a site that allocates objects of a type.
  func allocation(_ site: SiteID, of type: NodeType) -> SourceFrame? {
    allocation(sites[Int(site.rawValue)].stack, frames(of: site), of: type)
  }

  /// Returns the program's innermost frame of an object's allocation stack.
  func allocation(_ stack: StackID, of type: NodeType) -> SourceFrame? {
    allocation(stack, frames(of: stack), of: type)
  }

  private func allocation(_ stack: StackID, _ frames: [SourceFrame], of type: NodeType) -> SourceFrame? {
    let frames = frames.dropFirst(type.kind == .malloc ? wrappers.frameCount(of: stack) : 0)
    let head = type.name.prefix { $0 != "<" }
    var user = frames.filter { $0.kind == .user }
    // If a library of the operating system made the object, it did so for the program's function that called the
    // library.
    let own = user.filter { !isOfOperatingSystem($0) }
    if !own.isEmpty { user = own }
    return user.first { frame in
      type.kind != .object || !DeclarationName.isInitialiser(frame.function, of: head)
    } ?? user.first
  }

  /// Returns the function that called the allocation functions, even if it is a library's. Used for stacks without a
  /// function of the program.
  func caller(of node: NodeID) -> SourceFrame? { caller(frames(of: graph.heap[BlockID(node)].site)) }

  /// Returns the function that called the allocation functions on a stack.
  func caller(_ stack: StackID) -> SourceFrame? { caller(frames(of: stack)) }

  private func caller(_ frames: [SourceFrame]) -> SourceFrame? {
    frames.first { !AllocationFunctions.isOne($0) && $0.kind != .thunk }
  }

  /// Returns whether a frame is in a shared library that came with the operating system, although the program did not.
  /// Such code belongs neither to the program nor to the platform.
  func isOfOperatingSystem(_ frame: SourceFrame) -> Bool {
    guard frame.kind == .user, let path = frame.imagePath, SystemCode.isOfOperatingSystem(path) else { return false }
    return !isProgramOfOperatingSystem
  }

  private lazy var isProgramOfOperatingSystem = [
    "/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/lib/", "/usr/lib/", "/usr/libexec/",
  ].contains {
    definitions.process.executable.hasPrefix($0)
  }

  /// One of the files that a Swift module was compiled from.
  func sourceFile(ofModule module: String) -> String? {
    naming.sourceFile(ofModule: module, in: definitions.images.map(\.image))
  }

  /// The variable at an address in a loaded image's data.
  func variable(at address: UInt64, in image: LoadedImage) -> String? {
    naming.variable(at: RuntimeAddress(address), in: image).map(DeclarationName.withoutDiscriminators)
  }

  // MARK: Steps

  /// Returns the function of a closure that `edge` holds.
  func closure(of edge: EdgeIndex, from node: NodeID) -> SourceFrame? {
    guard let label = graph.label(graph.graph.label(of: edge)), case .closure(let offset) = label.role else {
      return nil
    }
    let block = graph.heap[BlockID(node)]
    guard let word = functionWord(of: edge, label, block, offset: offset) else { return nil }
    return function(at: word)
  }

  private func functionWord(of edge: EdgeIndex, _ label: EdgeLabel, _ block: LiveBlock, offset: Int) -> UInt64? {
    guard label.isElement else { return graph.image.word(at: block.address &+ UInt64(bitPattern: Int64(offset))) }
    // The edge does not identify the element that has the target. Take the first place in the block that has the target
    // with a code address next to it.
    let target = graph.heap[BlockID(graph.graph.target(of: edge))].address
    var found: UInt64?
    graph.image.forEachWord(in: block.address + 16..<block.address + max(block.size, 16)) { address, value in
      guard found == nil, value & HeapImage.addressBits & ~7 == target else { return }
      let place = address &+ UInt64(bitPattern: Int64(offset &- label.offset))
      if let word = graph.image.word(at: place), graph.roots.isImage(word) { found = word }
    }
    return found
  }

  func isThunk(_ frame: SourceFrame?) -> Bool {
    guard let frame else { return false }
    return frame.function.contains("reabstraction thunk") || frame.fullFunction.contains("reabstraction thunk")
  }

  /// Returns the function that a task is suspended in: the innermost function of the program or a package among its
  /// contexts.
  func suspension(of task: NodeID) -> SourceFrame? {
    var first: SourceFrame?
    for frame in suspendedFunctions(of: task) {
      if frame.kind == .user { return frame }
      if first == nil { first = frame }
    }
    return first
  }

  /// Returns the innermost function of the program itself that a task is suspended in. Nil unless a package's function
  /// is further in.
  func ownSuspension(of task: NodeID) -> SourceFrame? {
    let functions = suspendedFunctions(of: task).filter { $0.kind == .user }
    guard let own = functions.first(where: { packages.package(of: $0, among: functions) == nil }),
      own != functions.first
    else { return nil }
    return own
  }

  /// Returns the functions of a task's contexts, innermost first.
  private func suspendedFunctions(of task: NodeID) -> [SourceFrame] {
    suspendedFunctions(ofTaskAt: graph.heap[BlockID(task)].address)
  }

  /// Returns the functions of the contexts of the task at an address, innermost first.
  func suspendedFunctions(ofTaskAt address: UInt64) -> [SourceFrame] {
    graph.resumptions(ofTaskAt: address).flatMap { address -> [SourceFrame] in
      guard var frame = function(at: address), !Self.isOfRuntime(frame) else { return [] }
      if let inlined = inlinedSuspension(at: address, of: frame) { return inlined }
      // The first instructions of a part of an async function have no line.
      if frame.kind == .user, frame.line == nil, let name = frame.mangledName,
        let image = graph.roots.image(at: address), let first = firstLine(of: name, at: address, in: image)
      {
        frame = first
      }
      return [frame]
    }
  }

  /// Returns the frames of a suspension in a function that the optimiser inlined, innermost first. Nil if the outer
  /// function itself suspends.
  ///
  /// If a function itself suspends, its next part begins with the line of the await. If an inlined function suspends,
  /// the next part begins with the line of the outer function's declaration. The inlined function follows. Seen with
  /// Swift 6.3.1.
  private func inlinedSuspension(at address: UInt64, of frame: SourceFrame) -> [SourceFrame]? {
    guard frame.kind == .user, frame.asyncPart != nil, let line = frame.line, let name = frame.mangledName,
      let image = graph.roots.image(at: address),
      naming.line(ofClosure: name, at: RuntimeAddress(address), in: image) == line
    else { return nil }
    for offset in UInt64(0)..<Self.prologueSize {
      let frames = naming.frames(
        for: FrameKey(address: RuntimeAddress(address &+ offset), isExact: true, isAsync: false), in: image)
      guard frames.last?.mangledName == name else { return nil }
      if frames.count > 1 { return frames }
      if frames[0].line != line { return nil }
    }
    return nil
  }

  /// Maximum size in bytes of the prologue of a part of an async function. The prologue sets up the frame and the
  /// context.
  private static let prologueSize: UInt64 = 64

  /// Returns whether a frame is a function of the runtime that starts or completes tasks, such as
  /// `future_adapter(swift::AsyncContext*)`. Such a function says nothing about a task's work.
  private static func isOfRuntime(_ frame: SourceFrame) -> Bool {
    frame.kind != .user && frame.function.contains("(swift::AsyncContext*")
  }

  /// Returns whether one of the program's functions that a task is suspended in returns to the same suspension point.
  /// Nil if no function's code shows it.
  func isInLoop(_ task: NodeID) -> Bool? {
    var isKnown = false
    for address in graph.resumptions(of: task) {
      guard let isLoop = isLoop(at: address) else { continue }
      if isLoop { return true }
      isKnown = true
    }
    return isKnown ? false : nil
  }

  /// Returns whether one of the functions that a task is suspended in is a sleep. The sleep's time may have passed.
  func isInSleep(_ task: NodeID) -> Bool {
    graph.resumptions(of: task).contains { address in
      function(at: address).map { $0.kind != .user && Registrations.isSleep(function: $0.function) } ?? false
    }
  }

  /// Returns whether a part of one of the program's functions is in a loop. Each address is looked up once.
  private func isLoop(at address: UInt64) -> Bool? {
    if let known = loops[address] { return known }
    var isLoop: Bool?
    if let image = graph.roots.image(at: address), function(at: address)?.kind == .user {
      isLoop = naming.isLoop(partAt: RuntimeAddress(address), in: image)
    }
    loops[address] = .some(isLoop)
    return isLoop
  }
}

extension String {
  fileprivate func lastRange(of text: String) -> Range<String.Index>? {
    var start = endIndex
    while start > startIndex {
      start = index(before: start)
      if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
    }
    return nil
  }

}
