// Looks up the symbols that verdicts depend on.

import HeapAnalysis
import PlatformRules
import TextWriting
import TraceReading
import TraceSymbolication

/// Answers the questions about code that verdicts depend on. All other names are looked up at the end, only for the
/// findings. For one thread at a time.
struct CodeFacts {
  let definitions: TraceDefinitions
  let naming: any FrameNaming
  private let initialization: OneTimeInitialization
  private let contents: BlockContentsByAllocator

  init(_ definitions: TraceDefinitions, naming: any FrameNaming) {
    (self.definitions, self.naming) = (definitions, naming)
    initialization = OneTimeInitialization(definitions, naming: naming)
    contents = BlockContentsByAllocator(definitions, naming: naming)
  }

  /// Returns the kind of code that a thread waits in. Threads of libdispatch's pools wait in libdispatch and the C
  /// library. If these libraries are linked statically, the functions' names show the kind.
  func waitingCode(_ address: UInt64, _ image: LoadedImage) -> WaitingCode {
    if let known = Self.waitingImages.statement(for: fileName(ofPath: image.path)) { return Self.waitingCode(known) }
    if SystemCode.isSystemImage(image.path) { return .other }
    let frame = naming.frames(
      for: FrameKey(address: RuntimeAddress(address), isExact: false, isAsync: false), in: image
    ).last
    guard let function = frame?.mangledName else { return .other }
    return Self.waitingFunctions.statement(for: function).map(Self.waitingCode) ?? .other
  }

  private static let waitingImages = RuleBook.shipped.table(.waitsIn, by: .image)
  private static let waitingFunctions = RuleBook.shipped.table(.waitsIn, by: .symbol)

  /// Returns the kind of code that a rule's statement names.
  private static func waitingCode(_ statement: String) -> WaitingCode {
    switch statement {
    case "pool": .pool
    case "c-library": .cLibrary
    case "runtime": .runtime
    default: .other
    }
  }

  /// Returns whether a stack's allocations were made by the initialiser of a global or static variable.
  func isOneTimeInitialization(_ stack: StackID) -> Bool { initialization.made(stack) }

  /// Returns the kind of memory that the functions of a stack allocate.
  func contents(ofBlocksAllocatedBy stack: StackID) -> BlockContents {
    contents.contents(ofBlocksAllocatedBy: stack)
  }

  /// Returns whether a frame has a function of the program that is not an initialiser.
  func isProgramFunction(_ frame: StackFrame) -> Bool {
    naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image }).contains {
      $0.kind == .user && !DeclarationName.isInitialiser($0.function)
    }
  }
}
