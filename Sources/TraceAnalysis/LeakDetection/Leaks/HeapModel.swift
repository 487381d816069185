// The heap of one snapshot, with the facts that the trace has about it.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// The graph of a heap image, and figures of the history of its blocks. This is the first step from a trace to
/// findings; `Verdicts` is the next. For one thread at a time.
package final class HeapModel {
  package let snapshot: TraceSnapshot
  package let graph: ObjectGraph
  /// The sums over the trace. The trace's live blocks are in `graph`.
  let trace: AllocationAnalysis
  let sites: AllocationSites
  /// The program's scopes and expectations, without objects that may have ended without an event.
  package let statements: ProgramStatements
  let activations: Activations
  /// True if threads that the heap image lacks may have held its blocks. The process is then a copy of a process that
  /// had several threads.
  let lacksThreads: Bool
  package let diagnostics: TraceDiagnostics
  /// The heap that was rebuilt from the events; nil if the graph comes from a heap image of the trace.
  let earlier: EarlierHeap?
  /// Returns the code addresses of a thread's active functions, innermost first; nil unless all of them are found.
  let frames: (SnapshotThread) -> [UInt64]?

  /// Returns facts from the files of loaded images: the layouts of types, and the frames of threads.
  typealias Files = (HeapImage, [LoadedImage]) -> (layouts: any LayoutSource, frames: ThreadFrames?)

  /// Builds the graph. `trace` must come from the same snapshot. `earlier`: rebuilds the image of the snapshot; nil if
  /// the trace has this image. Linear in the live blocks and the heap image's words.
  init(
    _ reader: TraceReader, _ trace: AllocationAnalysis, snapshot: TraceSnapshot, codeFacts: CodeFacts,
    imageLimit: MemoryLimit? = nil, earlier: EarlierHeap? = nil, files: Files
  ) {
    self.snapshot = snapshot
    self.earlier = earlier
    var diagnostics = TraceDiagnostics()
    let definitions = trace.definitions
    let heap = LiveHeap(trace.blocksAtSnapshot)
    let images = definitions.images.filter {
      $0.loadTime <= snapshot.time && ($0.unloadTime.map { $0 > snapshot.time } ?? true)
    }.map(\.image)
    let image: HeapImage
    let layouts: any LayoutSource
    let threadFrames: ThreadFrames?
    if let earlier {
      let exit = HeapImage(earlier.exit, in: reader, limit: imageLimit, diagnostics: &diagnostics)
      let classes = ClassLayouts(files(exit, images).layouts, definitions)
      image = earlier.image(heap, trace.sites, layouts: classes) ?? HeapImage()
      (layouts, threadFrames) = (classes, nil)
    } else {
      image = HeapImage(snapshot, in: reader, limit: imageLimit, diagnostics: &diagnostics)
      (layouts, threadFrames) = files(image, images)
    }
    self.diagnostics = diagnostics
    let frames = { (thread: SnapshotThread) -> [UInt64]? in
      // A stack is complete if it was unwound with all registers.
      if let stack = definitions.threadStacks[UInt64(thread.osThread)], stack.end == .complete {
        return stack.frames.map(\.key.address.rawValue)
      }
      return threadFrames?.addresses(of: thread)
    }
    self.frames = frames
    let roots = HeapRoots(
      snapshot, images: images, heap: heap, image: image, gaps: trace.gaps,
      waitingCode: { codeFacts.waitingCode($0, $1) }, frames: frames)
    let sites = trace.sites
    self.sites = sites
    let types = definitions.types
    let hasListedBlocks = Self.hasListedBlocks(trace)
    func isListed(_ block: LiveBlock) -> Bool { hasListedBlocks && sites[Int(block.site.rawValue)].stack == .empty }
    // Events start at the fork; the allocator's metadata also covers older blocks.
    lacksThreads = definitions.process.lacksThreads && snapshot.isListed
    let typeTables =
      hasListedBlocks
      ? TypeRecordTables(heap: heap, image: image, roots: roots, naming: codeFacts.naming, isListed: isListed) : nil
    graph = ObjectGraphBuilder.build(
      snapshot, heap: heap, image: image, roots: roots,
      typeOf: { block in
        let key = sites[Int(block.site.rawValue)]
        return (key.operation == .object ? types[key.type] : nil, key.operation)
      },
      contents: {
        typeTables?.contains($0) == true
          ? .typeRecords : codeFacts.contents(ofBlocksAllocatedBy: sites[Int($0.site.rawValue)].stack)
      }, layouts: layouts,
      mainModule: moduleName(ofImage: definitions.process.executable), gaps: trace.gaps,
      lacksThreads: lacksThreads, isListed: isListed)
    statements = trace.statements.without(graph) {
      codeFacts.isOneTimeInitialization(sites[Int($0.site.rawValue)].stack)
    }
    activations = Self.left(trace.activationsAtSnapshot, snapshot, graph.roots, definitions)
    var sums = trace
    sums.blocksAtSnapshot = LiveBlockList([])
    self.trace = sums
  }

  /// Returns whether blocks without a stack may have been allocated before the recording.
  private static func hasListedBlocks(_ trace: AllocationAnalysis) -> Bool {
    trace.header.lacksHistory || trace.definitions.process.isAttached
  }

  /// Whether the births of some blocks may be unknown.
  var mayHaveListedBlocks: Bool { Self.hasListedBlocks(trace) }

  /// Returns whether a block is known only from the allocator's metadata.
  func isListed(_ block: LiveBlock) -> Bool {
    Self.hasListedBlocks(trace) && sites[Int(block.site.rawValue)].stack == .empty
  }

  /// The executions of exited threads. Their functions do not run any more.
  var endedExecutions: Set<ExecutionID> {
    // The main thread may have exited through `dispatchMain`. The compiler releases nothing after that call, so the
    // main thread counts as live.
    let live = Set(snapshot.threads.map { UInt64($0.osThread) }).union([UInt64(trace.header.processID)])
    let executions = activations.ownExecutions
    return Set(
      trace.definitions.threads.lazy.filter { !live.contains($0.osThread) }.compactMap { executions[$0.thread] })
  }

  /// Returns the activations at the snapshot. If the C library is ending the process, leaves out the stack of the
  /// thread that ends it. This thread has returned from the program's main function.
  private static func left(
    _ activations: Activations, _ snapshot: TraceSnapshot, _ roots: HeapRoots, _ definitions: TraceDefinitions
  ) -> Activations {
    guard snapshot.reason == .exit, let thread = snapshot.threads.first(where: \.isSelf),
      let image = roots.image(at: thread.instructionPointer),
      SystemCode.isSystemImage(image.path),
      let record = definitions.threads.first(where: { $0.osThread == UInt64(thread.osThread) })
    else { return activations }
    return activations.leaving(thread: record.thread)
  }
}
