// The settings of an analysis.

/// The files that an analysis may read, the modules that are the program's own, and how much of the result is kept.
public struct AnalysisOptions: Hashable, Sendable {
  /// Directories with debug files, searched before the system's.
  public var debugPaths: [String] = []
  /// The root directory of the program's files, if the trace is from another machine; nil for `/`.
  public var sysroot: String?
  /// Directories that may hold a Swift toolchain, whose mirror library has the layouts of types, separated by colons as
  /// in `PATH`. The library is also searched for beside the Swift runtime of this program and of the traced one.
  public var toolPath = ""
  /// Swift modules whose code is the program's own, if folders do not separate it from packages; usually empty.
  public var ownModules: Set<String> = []
  /// Allocation sites that are named and kept; nil for all. Each costs a look-up of its stack.
  public var siteLimit: Int? = 10

  public init() {}
}
