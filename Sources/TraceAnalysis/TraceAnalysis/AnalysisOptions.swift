// The settings of an analysis.

/// The files that an analysis may read, the program's own modules, and the size of the result.
public struct AnalysisOptions: Hashable, Sendable {
  /// Directories with debug files, searched before the system's.
  public var debugPaths: [String] = []
  /// The root directory of the program's files, if the trace is from another machine; nil for `/`.
  public var sysroot: String?
  /// Directories that may contain a Swift toolchain, separated by colons as in `PATH`. The toolchain's remote mirror
  /// library knows the layouts of types. The library is also searched for next to the Swift runtime of this program and
  /// of the traced program.
  public var toolPath = ""
  /// Swift modules whose code is the program's own, if their folders do not distinguish them from packages; usually
  /// empty.
  public var ownModules: Set<String> = []
  /// Maximum number of allocation sites to name and keep; nil for all. Each costs a look-up of its stack.
  public var siteLimit: Int? = 10

  public init() {}
}
