// Checks whether the concurrency runtimes of a process have a known layout of tasks.

/// The layout of tasks, from variables of the process's concurrency runtimes.
///
/// Since Swift 6.1, a runtime exports a version number of the layout for debuggers. Since 6.2, it also exports the size
/// of a task's header. Swift 6.0 exports neither, and has the layout of 6.1. It is recognised by a function that no
/// earlier runtime exports.
///
/// Source: swiftlang/swift, include/swift/Runtime/Debug.h and Concurrency.h; seen with the libraries of Swift 6.0.3,
/// 6.1.2, 6.2.3 and 6.3.1.
struct TaskLayout {
  static let versionVariable = "_swift_concurrency_debug_internal_layout_version"
  static let sizeVariable = "_swift_concurrency_debug_asyncTaskSize"
  /// The runtime exports this function since Swift 6.0.
  static let newestFunction = "swift_task_getPreferredTaskExecutor"
  private static let version: UInt64 = 1
  /// Bytes of a task's header, for runtimes that export the size.
  private static let headerSize: UInt64 = 208

  /// True if all runtimes of the process have the known layout of tasks.
  let isKnown: Bool
  /// A sentence for the reader if a runtime has an unknown layout; otherwise nil.
  let remark: String?
  /// How the runtime differs from the known ones, without a full stop; nil if the layout is known.
  let difference: String?

  /// - Parameters:
  ///   - variable: returns the values of the exported variable with the given name, one for each runtime.
  ///   - exports: returns whether a runtime exports a function with the given name.
  init(variable: (String) -> [UInt64], exports: (String) -> Bool) {
    let versions = variable(Self.versionVariable).map { $0 & 0xFFFF_FFFF }
    let sizes = variable(Self.sizeVariable).map { $0 & 0xFFFF_FFFF }
    var difference: String?
    if let other = versions.first(where: { $0 != Self.version }) {
      difference = "layout \(other) of tasks, and leaktrace knows layout \(Self.version)"
    } else if let other = sizes.first(where: { $0 != Self.headerSize }) {
      difference = "tasks of \(other) bytes, and leaktrace knows tasks of \(Self.headerSize) bytes"
    }
    isKnown = difference == nil && (!versions.isEmpty || exports(Self.newestFunction))
    self.difference = difference.map { "the Swift runtime of the program has \($0)" } ?? (isKnown ? nil : Self.older)
    remark = difference.map {
      "the Swift runtime of the program has \($0). No task counts as suspended forever, and what tasks keep counts as in use. Use a release of leaktrace that knows this runtime"
    }
  }

  private static let older =
    "the Swift runtime of the program does not say how its tasks are laid out, and is older than Swift 6.0 or has no exports"
}
