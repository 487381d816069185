// The processors of traced and inspected processes.

/// A processor whose processes leaktrace reads. The raw value is its number in ELF files (`e_machine`).
package enum Processor: UInt16, Hashable, Sendable, CaseIterable {
  case x86_64 = 62
  case arm64 = 183

  /// The processor of this process.
  package static var own: Self {
    #if arch(arm64)
      .arm64
    #else
      .x86_64
    #endif
  }

  /// The name in messages.
  package var name: String {
    switch self {
    case .x86_64: "x86-64"
    case .arm64: "arm64"
    }
  }
}
