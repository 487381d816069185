// A leak as reports show it: with names, grouped by cause, and with advice.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// One cause of leaked memory, with all its instances. Its identity contains no addresses.
///
/// `FindingRecord` is its form in files, and `Wording` phrases it.
package struct Finding: Hashable, Sendable {
  /// The reason why the objects should be gone.
  package var evidence: Evidence
  /// Who can fix the cause.
  package var owner: Owner = .program
  package var instances: Int
  package var retainedBytes: ByteCount
  package var retainedBlocks: UInt64
  /// The objects of one instance, in order. The instance is from the first of `places`.
  package var path: [Step]
  /// All places that instances come from, most instances first. Empty if the objects themselves are gone, or if they
  /// are reachable.
  package var places: [Place] = []
  /// The program's object that the finding is about, if the finding's own objects are closures, tasks or a library's
  /// objects. Nil if the finding's objects are the program's own, or keep no object of the program.
  package var subject: Subject? = nil
  package var held = Held()
  /// The pieces of advice, most likely first.
  package var advice: [Advice] = []
  /// A hash that is equal for equal causes, in all runs of this build and of other builds.
  package var fingerprint: String = ""
  /// The pattern that hides the finding.
  package var suppression: String? = nil
  package var origins = Origins()

  /// The owner of the code that has to change.
  package enum Owner: Hashable, Sendable {
    case program
    /// Only code of the platform's libraries made the objects and holds them. `reason` states the evidence for that.
    case library(reason: String)
    /// No stack names the caller: the memory may be the program's or a library's. It counts as a library's.
    case unknown
  }

  /// The objects that an instance keeps in addition to the objects on its path.
  package struct Held: Hashable, Sendable {
    /// The kept objects of the shown instance, by type, most bytes first.
    package var types: [HeldType] = []
    /// True if all instances keep equal numbers of blocks and bytes, of the same types.
    package var isEqualForEach = true
    /// The objects that several instances keep together and nothing else keeps, by type, most bytes first.
    package var together: [HeldType] = []
  }

  /// The stacks and tests that instances come from.
  package struct Origins: Hashable, Sendable {
    /// The stacks that allocated instances, most instances first. Incomplete if there are very many stacks.
    package var stacks: [StackShare] = []
    /// The tests that were running at these allocations, if they are known.
    package var tests: [TestShare] = []
    /// The places that made the sampled instances of a light trace, most instances first.
    package var samples: [SampledPlace] = []
  }

  package var verdict: Verdict { evidence.verdict }
  package var certainty: Certainty { evidence.certainty }
  package var isLibrary: Bool { owner != .program }
  /// True if the finding is a suspicion that is listed only on request.
  package var isWeak: Bool { evidence.strength == .weak }

  /// The place where the program stated the expectation that the finding breaks; nil for other findings.
  package var expectation: MarkPlace? {
    if case .stated(.expectation(let expectation), _) = evidence { expectation.place } else { nil }
  }

  /// The number of instances to compare between runs.
  package var comparableInstances: UInt64 {
    // The heap image was taken when the first broken expectation was due. Chance decides how many of the others were in
    // it.
    if case .stated(.expectation(let expectation), _) = evidence { return expectation.violated }
    return UInt64(instances)
  }

  /// The line that made the objects of the finding. The program's line if it is known, otherwise a library's line.
  package var origin: SourceFrame? {
    places.first?.place ?? (evidence.retention == nil ? path.first : path.last)?.place
  }
}

extension Verdict {
  /// The certainty of a finding without a statement of the program.
  package var certainty: Finding.Certainty {
    switch self {
    case .retainCycle, .lost, .deinitialised, .suspended, .dangling, .growing: .proven
    case .outlived, .accumulating: .suspected
    }
  }
}
