// Facts about what leaktrace itself needs: files, and a directory for traces.

/// The outcome of an attempt.
package enum TrialResult<Value: Hashable & Sendable>: Hashable, Sendable {
  case notTried
  case done(Value)
  case failed(TrialFailure)

  package var value: Value? {
    if case .done(let value) = self { value } else { nil }
  }
  package var failure: TrialFailure? {
    if case .failed(let failure) = self { failure } else { nil }
  }
}

/// A directory as a place for files.
package struct DirectoryFacts: Hashable, Sendable {
  package var path: String
  /// The errno of an attempt to make a file; 0 if one can be made.
  package var writeError: Int32 = 0
  /// Bytes that this user can still write; nil if the file system does not say.
  package var freeBytes: UInt64?
  /// No code is loaded from files in it (`noexec`).
  package var forbidsCode = false

  package init(path: String) { self.path = path }
}

/// Facts about leaktrace's own files, and about the directory for traces.
package struct InstallationFacts: Hashable, Sendable {
  /// The path of the recorder, found and checked.
  package var recorder: TrialResult<String> = .notTried
  /// The path of a remote mirror library that was loaded.
  package var mirror: TrialResult<String> = .notTried
  /// Where traces would go.
  package var output = DirectoryFacts(path: ".")

  package init() {}
}
