// Reasons why an image's addresses could not be named as well as they should be.

/// A problem that a report should mention, with an image whose addresses were looked up.
package struct ImageProblem: Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    /// No file was found, neither at the image's own path nor by build ID.
    case fileMissing
    /// A file was found, but it is not the build that ran, and is not used. Build IDs as lower-case hex; `found` is
    /// empty if the file has none.
    case buildIDMismatch(expected: String, found: String)
    /// A file was found that cannot be read, or that is not a sound ELF file.
    case unreadable(SymbolFileError)
    /// The right file has no function symbols at all.
    case noSymbols
    /// The right file has no debug information, and no separate file with it was found.
    case noDebugInformation
    /// The trace has no build ID for the image: the file is used, but may be another build.
    case unverified
  }

  /// The path in the traced process.
  package var imagePath: String
  /// The build ID in the trace; empty if it has none.
  package var buildID: [UInt8]
  /// The file the reason is about; `nil` when there is none.
  package var file: String?
  package var reason: Reason
}
