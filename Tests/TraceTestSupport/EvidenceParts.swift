// Accessors for a finding's evidence, for tests that expect evidence of one kind.

import HeapAnalysis
import LeakDetection

extension Finding.Evidence {
  package var way: Finding.Way? { if case .unreachable(_, let way) = self { way } else { nil } }

  package var taskWait: TaskWait? {
    if case .unreachable(.suspended(.alone(let wait)), _) = self { wait } else { nil }
  }

  package var referenceCount: ReferenceCount? {
    switch self {
    case .unreachable(.lost(let count), _), .deinitialised(let count): count
    default: nil
    }
  }

  package var ending: Finding.Ending? { if case .dangling(let ending) = self { ending } else { nil } }

  /// The survivors in suspicions and in statements.
  package var survivors: Finding.Survivors? {
    switch self {
    case .suspected(_, let survivors), .stated(_, let survivors): survivors
    default: nil
    }
  }

  package var statement: Finding.Statement? { if case .stated(let statement, _) = self { statement } else { nil } }
  package var rounds: Finding.Rounds? { if case .repeated(let rounds, _, _) = self { rounds } else { nil } }
}
