// Reasons why addresses of a loaded image have no names or lines.

/// A problem with a loaded image whose addresses were looked up. Reports should mention it.
package struct ImageProblem: Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    /// No file was found, neither at the loaded image's own path nor by build ID.
    case fileMissing
    /// The file that was found is another build than the code that ran, and is not used. Build IDs are in lower-case
    /// hexadecimal. `found` is empty if the file has no build ID.
    case buildIDMismatch(expected: String, found: String)
    /// The file that was found cannot be read, or is damaged, or is no ELF file.
    case unreadable(SymbolFileError)
    /// The right file has no function symbols at all.
    case noSymbols
    /// The right file has no debug information, and no separate file with it was found.
    case noDebugInformation
    /// The trace has no build ID for the loaded image. The file is used, but may be of another build.
    case unverified
  }

  /// The path in the traced process.
  package var imagePath: String
  /// The build ID in the trace; empty if it has none.
  package var buildID: [UInt8]
  /// The file that has the problem; `nil` if there is none.
  package var file: String?
  package var reason: Reason
}
