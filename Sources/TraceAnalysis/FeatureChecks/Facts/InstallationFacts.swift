// Facts about leaktrace's own files, and about the directory for traces.

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

/// Facts about the directory for written files.
package struct DirectoryFacts: Hashable, Sendable {
  package var path: String
  /// The errno of an attempt to create a file; 0 if files can be created.
  var writeError: Int32 = 0
  /// The number of bytes that this user can still write; nil if the file system does not report it.
  package var freeBytes: UInt64?
  /// True if no code can be loaded from files in the directory (`noexec`).
  var forbidsCode = false

  package init(path: String) { self.path = path }
}

/// Facts about leaktrace's own files, and about the directory for traces.
package struct InstallationFacts: Hashable, Sendable {
  /// The path of the recorder, found and checked.
  package var recorder: TrialResult<String> = .notTried
  /// The path of the remote mirror library that was loaded.
  package var mirror: TrialResult<String> = .notTried
  /// The directory for traces.
  package var output = DirectoryFacts(path: ".")

  package init() {}
}
