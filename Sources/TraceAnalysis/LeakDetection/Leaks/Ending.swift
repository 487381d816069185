// The end of an object, with names: where the object was made and freed, and which code used it afterwards.

import HeapAnalysis
import TraceReading
import TraceSymbolication

extension Finding {
  /// The end of an object that something still refers to, or that code used after its end.
  package struct Ending: Codable, Hashable, Sendable {
    /// The type without modules. For blocks of C code, the function that allocated the block.
    package var type: String
    package var qualifiedType: String
    package var allocated: Moment
    package var freed: Moment
    /// The first retain or release of the object after its end; nil if there was none.
    package var used: Moment?
    /// The number of retains and releases of the shown object after its end.
    package var uses: UInt64
  }

  /// An event in the life of an object.
  package struct Moment: Codable, Hashable, Sendable {
    /// The function that was called.
    package var operation: String
    package var stack: StackID
    /// The frames of `stack`, innermost first; empty if no stack was recorded.
    package var frames: [SourceFrame]
    /// Index into `frames` of the program's innermost frame that shows the responsible code. Nil if there is none.
    package var userFrame: Int?
    /// Seconds since the start of the recording; nil if the clock's rate is unknown.
    package var seconds: Double?
    /// The system's number of the thread; nil if it is not known.
    package var thread: UInt64?

    package var frame: SourceFrame? { userFrame.map { frames[$0] } }
  }
}

extension FindingNaming {
  func ending(of block: EndedBlock) -> Finding.Ending {
    let type = self.type(of: block)
    let head = type.kind == .object ? type.name.prefix { $0 != "<" } : ""
    return Finding.Ending(
      type: type.name, qualifiedType: type.qualifiedName,
      allocated: moment(block.allocated) { !DeclarationName.isInitialiser($0, of: head) },
      // The object's own deinit does not show which code released the object.
      freed: moment(block.freed) { !Self.isDeinitialiser($0, of: head) },
      used: block.used.map { moment($0) { _ in true } }, uses: block.uses)
  }

  func type(of block: EndedBlock) -> NodeType {
    if let type = definitions.types[block.type], block.allocated.operation == .object { return TypeNames.type(type) }
    let name = block.allocated.operation == .object ? "unknown type" : block.allocated.operation.name
    return NodeType(
      kind: block.allocated.operation == .object ? .object : .malloc, qualifiedName: name, name: name,
      typeID: block.type)
  }

  /// Returns the path step for an object that has ended.
  func step(_ ended: EndedBlock, _ ending: Finding.Ending) -> Finding.Step {
    Finding.Step(
      kind: type(of: ended).kind, type: ending.type, qualifiedType: ending.qualifiedType, function: nil,
      allocation: ending.allocated.frame,
      stack: ended.allocated.stack, address: RuntimeAddress(ended.address), size: ByteCount(ended.size), reference: nil)
  }

  private func moment(_ moment: EndedBlock.Moment, _ tells: (String) -> Bool) -> Finding.Moment {
    let frames = frames(of: moment.stack)
    let user = frames.indices.filter { frames[$0].kind == .user }
    return Finding.Moment(
      operation: moment.operation.name, stack: moment.stack, frames: frames,
      userFrame: user.first { tells(frames[$0].function) } ?? user.first,
      seconds: clock.seconds(at: moment.time),
      thread: definitions.threads.first { $0.thread == moment.thread }?.osThread)
  }

  private static func isDeinitialiser(_ function: String, of type: Substring) -> Bool {
    guard let dot = function.lastIndex(of: "."),
      ["deinit", "__deallocating_deinit", "__isolated_deallocating_deinit"].contains(
        function[function.index(after: dot)...])
    else { return false }
    let owner = function[..<dot].prefix { $0 != "<" }
    return owner == type || owner.hasSuffix(".\(type)")
  }
}
