// The objects of a finding, and the places that they come from.

import HeapAnalysis
import TraceReading
import TraceSymbolication

extension Finding {
  /// A reference from one step of a path to the next.
  package struct Reference: Codable, Hashable, Sendable {
    /// `viewModel`, `[]`, `[value]`, `self`; empty if there is no name for it.
    package var name: String
    package var strength: EdgeStrength
    package var isClosure: Bool
    /// A variable that a closure captured.
    package var isCapture: Bool
    /// A closure that has `self`, which is the next step, for its whole context.
    package var capturesSelf: Bool
    /// The function that a closure runs; for a closure without a context of its own its object is the next step itself.
    package var closure: SourceFrame?
    package var caseName: String?
    /// The declared class of the field, without modules. Nil if it is no class, and for references that do not dangle.
    package var referentType: String?
    /// The class of the object that has the target's memory now, without modules. Nil if the memory is free, and where
    /// the object's end is known.
    package var tenantType: String?
  }

  /// An object on a path.
  package struct Step: Codable, Hashable, Sendable {
    package var kind: NodeKind
    /// Without modules: `ViewModel`, `[Node]`, `closure`.
    package var type: String
    package var qualifiedType: String
    /// The function of a closure, or the function that a task is suspended in.
    package var function: SourceFrame?
    /// The program's innermost frame that made it, initialisers of its own type left out.
    package var allocation: SourceFrame?
    package var stack: StackID
    /// The shown instance's address.
    package var address: RuntimeAddress
    package var size: ByteCount
    /// To the next step; in a cycle the last one's leads to the first.
    package var reference: Reference?
    /// All fields of its type that hold references; none if they are not known.
    package var fields: [String] = []
    /// The program's own function that had it made, where `allocation` is a package's.
    package var ownAllocation: SourceFrame? = nil
    /// The program's own function that a task waits in, where `function` is a package's.
    package var ownFunction: SourceFrame? = nil
    /// The library that has it for itself: the name of a package, or a part of the platform. Nil for the program's.
    package var library: String? = nil
    /// The number of steps that are left out before this one, in a row that is too long to be shown.
    package var omittedBefore: Int? = nil
    /// It was allocated before the recording began, so that the place is unknown.
    package var isFromBefore: Bool? = nil

    /// The program's line that had it made, as far as is known; else a library's.
    package var place: SourceFrame? { ownAllocation ?? allocation }
    /// The function that it runs or waits in, of the program's own if there is one.
    package var code: SourceFrame? { ownFunction ?? function }
  }

  /// The origin of instances: the program's line that made the object that the finding is titled by.
  package struct Place: Codable, Hashable, Sendable {
    /// The program's innermost frame that made it, initialisers of its own type left out.
    package var allocation: SourceFrame?
    /// The program's own function that had it made, where `allocation` is a package's.
    package var ownAllocation: SourceFrame? = nil
    package var stack: StackID
    package var instances: Int
    /// The memory that would be freed with the instances from here, and its number of blocks.
    package var retainedBytes: ByteCount
    package var retainedBlocks: UInt64
    /// Sizes of the object itself.
    package var smallest: ByteCount
    package var largest: ByteCount
    /// The objects of an instance from here; empty if that is the finding's own path.
    package var path: [Step] = []

    /// The program's line that had them made, as far as is known; else a library's.
    package var place: SourceFrame? { ownAllocation ?? allocation }
  }

  package struct HeldType: Codable, Hashable, Sendable {
    package var name: String
    package var count: UInt64
    package var bytes: ByteCount
  }
}
