// A leak as reports show it: named, grouped by cause, with what to do about it.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// One cause of leaked memory, with all its instances. A value without addresses in what identifies it.
///
/// `FindingRecord` is its form in files, and `Wording` phrases it.
package struct Finding: Hashable, Sendable {
  /// The reason why its objects should be gone.
  package var evidence: Evidence
  /// Those that could mend it.
  package var owner: Owner = .program
  package var instances: Int
  package var retainedBytes: ByteCount
  package var retainedBlocks: UInt64
  /// The objects of one instance, in order: one from the first of `places`.
  package var path: [Step]
  /// All places that instances come from, those with the most instances first; empty if the objects themselves are
  /// gone, or are reachable.
  package var places: [Place] = []
  /// Its subject, where its objects are closures, tasks or a library's; nil if they are the program's own, or if they
  /// keep nothing of the program's.
  package var subject: Subject? = nil
  package var held = Held()
  /// Most likely first.
  package var advice: [Advice] = []
  /// Equal for equal causes, in this run and in others of the same or another build.
  package var fingerprint: String = ""
  /// The pattern that hides it.
  package var suppression: String? = nil
  package var origins = Origins()

  /// The code that has to change.
  package enum Owner: Hashable, Sendable {
    case program
    /// The objects were made and are held inside the platform's libraries alone, for this reason.
    case library(reason: String)
    /// No stack names the caller: the memory may be the program's or a library's. It counts as a library's.
    case unknown
  }

  /// The objects that an instance keeps besides its path.
  package struct Held: Hashable, Sendable {
    /// Those of the shown instance by type, most bytes first.
    package var types: [HeldType] = []
    /// Each instance keeps as much, of the same types.
    package var isEqualForEach = true
    /// The objects that hang from several of the instances and from nothing else, by type, most bytes first.
    package var together: [HeldType] = []
  }

  /// The stacks and tests that instances come from.
  package struct Origins: Hashable, Sendable {
    /// The stacks that allocated instances, those with most instances first; not all if there are very many.
    package var stacks: [StackShare] = []
    /// The tests that were running then, as far as that is known.
    package var tests: [TestShare] = []
    /// The places that made the sampled instances of a light trace, most instances first.
    package var samples: [SampledPlace] = []
  }

  package var verdict: Verdict { evidence.verdict }
  package var certainty: Certainty { evidence.certainty }
  package var isLibrary: Bool { owner != .program }
  /// A suspicion that is listed on demand only.
  package var isWeak: Bool { evidence.strength == .weak }

  /// The place where the program stated the expectation that it breaks, if it does.
  package var expectation: MarkPlace? {
    if case .stated(.expectation(let expectation), _) = evidence { expectation.place } else { nil }
  }

  /// The number of instances as one run compares with another.
  package var comparableInstances: UInt64 {
    // The image was taken when the first of them was due: how many of the others were in it is chance.
    if case .stated(.expectation(let expectation), _) = evidence { return expectation.violated }
    return UInt64(instances)
  }

  /// The program's line that its objects come from, as far as that is known.
  package var origin: SourceFrame? {
    places.first?.place ?? (evidence.retention == nil ? path.first : path.last)?.place
  }
}

extension Verdict {
  /// The certainty if the program itself says nothing.
  package var certainty: Finding.Certainty {
    switch self {
    case .retainCycle, .lost, .deinitialised, .suspended, .dangling, .growing: .proven
    case .outlived, .accumulating: .suspected
    }
  }
}
