// Owners of findings in words.

import LeakDetection

extension Finding.Owner {
  /// The reason why a finding does not count as the program's; nil if it does.
  package var reason: String? {
    switch self {
    case .program: nil
    case .library(let reason): reason
    case .unknown: "no stack says who asked for it, and libraries lose memory, too"
    }
  }
}
