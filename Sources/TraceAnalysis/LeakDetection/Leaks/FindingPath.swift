// The objects of a finding, and the places that they come from.

import HeapAnalysis
import TraceReading
import TraceSymbolication

extension Finding {
  /// A reference from one step of a path to the next.
  package struct Reference: Codable, Hashable, Sendable {
    /// The name of the reference: `viewModel`, `[]`, `[value]`, `self`; empty if it has none.
    package var name: String
    package var strength: EdgeStrength
    package var isClosure: Bool
    /// True if the reference is a variable that a closure captured.
    package var isCapture: Bool
    /// True if a closure's whole context is `self`. `self` is then the next step.
    package var capturesSelf: Bool
    /// The function that a closure runs. If the closure has no separate context, its captured object is the next step.
    package var closure: SourceFrame?
    package var caseName: String?
    /// The declared class of the field, without modules. Nil if the field has no class type, and for references that do
    /// not dangle.
    package var referentType: String?
    /// The class of the object that now uses the target's memory, without modules. Nil if the memory is free, or if the
    /// end of the original object is known.
    package var tenantType: String?
  }

  /// An object on a path.
  package struct Step: Codable, Hashable, Sendable {
    package var kind: NodeKind
    /// The type without modules: `ViewModel`, `[Node]`, `closure`.
    package var type: String
    package var qualifiedType: String
    /// The function of a closure, or the function that a task is suspended in.
    package var function: SourceFrame?
    /// The program's innermost frame that made the object. Initialisers of the object's own type do not count.
    package var allocation: SourceFrame?
    package var stack: StackID
    /// The address in the shown instance.
    package var address: RuntimeAddress
    package var size: ByteCount
    /// The reference to the next step. In a cycle, the reference of the last step leads to the first step.
    package var reference: Reference?
    /// All fields of the object's type that hold references; empty if they are not known.
    package var fields: [String] = []
    /// The function of the program itself that called for the object, if `allocation` is a package's function.
    package var ownAllocation: SourceFrame? = nil
    /// The function of the program itself that a task waits in, if `function` is a package's function.
    package var ownFunction: SourceFrame? = nil
    /// The library that uses the object for itself: the name of a package, or a part of the platform. Nil for the
    /// program's objects.
    package var library: String? = nil
    /// The number of steps that are omitted before this one, in a row that is too long to show.
    package var omittedBefore: Int? = nil
    /// True if the object was allocated before the recording began, so that the place is unknown.
    package var isFromBefore: Bool? = nil

    /// The line that made the object. The program's line if it is known, otherwise a library's line.
    package var place: SourceFrame? { ownAllocation ?? allocation }
    /// The function that a closure runs or a task waits in: the program's own if there is one.
    package var code: SourceFrame? { ownFunction ?? function }
  }

  /// The origin of instances: the program's line that made the object named in the finding's title.
  package struct Place: Codable, Hashable, Sendable {
    /// The program's innermost frame that made the object. Initialisers of the object's own type do not count.
    package var allocation: SourceFrame?
    /// The program's own function that called for the object, if `allocation` is a package's function.
    package var ownAllocation: SourceFrame? = nil
    package var stack: StackID
    package var instances: Int
    /// The memory that would be freed with the instances of this place, and its number of blocks.
    package var retainedBytes: ByteCount
    package var retainedBlocks: UInt64
    /// The smallest and the largest size of the object itself.
    package var smallest: ByteCount
    package var largest: ByteCount
    /// The objects of an instance from this place; empty if they are the finding's own path.
    package var path: [Step] = []

    /// The line that made the objects. The program's line if it is known, otherwise a library's line.
    package var place: SourceFrame? { ownAllocation ?? allocation }
  }

  package struct HeldType: Codable, Hashable, Sendable {
    package var name: String
    package var count: UInt64
    package var bytes: ByteCount
  }
}
