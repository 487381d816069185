// The settings of an analysis.

/// The files that an analysis may read, the modules that are the program's own, and how much of the result is kept.
public struct AnalysisOptions: Hashable, Sendable {
  /// Directories with debug files, looked through before those of the system.
  public var debugPaths: [String] = []
  /// The directory below which the program's files stand, if the trace is of another machine; nil for the root.
  public var sysroot: String?
  /// Directories that may hold a Swift toolchain, whose mirror library knows the layouts of types, separated by colons
  /// as in `PATH`. The library is looked for beside the Swift runtime of this program and of the traced one, too.
  public var toolPath = ""
  /// Swift modules whose code is the program's own, where folders do not tell it from that of packages; usually empty.
  public var ownModules: Set<String> = []
  /// Allocation sites that are named and kept; nil for all. Each costs a look-up of its stack.
  public var siteLimit: Int? = 10

  public init() {}
}
