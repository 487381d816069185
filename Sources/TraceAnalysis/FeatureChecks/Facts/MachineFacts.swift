// Facts about this process and its system.

import ProcessInspection

/// Capabilities of a process, as the kernel's bit set (`/proc/PID/status`, capabilities(7)).
package struct Capabilities: OptionSet, Hashable, Sendable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package static let tracing = Capabilities(rawValue: 1 << 19)
  static let administration = Capabilities(rawValue: 1 << 21)
}

/// Whether a process limits its own system calls (seccomp), and how. The raw value is the kernel's.
package enum CallFilter: Int, Hashable, Sendable { case none, strict, filter }

/// Facts about this process and its system. All properties can be set, so that tests can describe other machines.
package struct MachineFacts: Hashable, Sendable {
  package enum Container: String, Hashable, Sendable { case none, docker, podman, kubernetes, other }

  /// How the system writes core files.
  package struct CoreSettings: Hashable, Sendable {
    /// `kernel.core_pattern`. It begins with `|` if a program receives the core files.
    package var pattern = "core"
    /// Maximum size of core files in bytes, for programs that are started here; nil for no limit.
    package var sizeLimit: UInt64? = 0
    var hasGcore = false

    package init() {}

    var isTakenByProgram: Bool { pattern.hasPrefix("|") }
    var taker: String {
      pattern.dropFirst().split(separator: " ").first?.split(separator: "/").last.map(String.init) ?? ""
    }
  }

  /// The effective user ID.
  package var userID: UInt32 = 0
  package var groupID: UInt32 = 0
  /// The effective capabilities.
  package var capabilities: Capabilities = []
  package var filter = CallFilter.none
  /// True if `no_new_privs` is set. Then neither sudo nor file capabilities can give this process more rights.
  var cannotGainRights = false
  /// True if capabilities are valid for the whole machine, not only within a user namespace.
  var isInFirstUserNamespace = true
  package var container = Container.none
  /// The processor, as `uname -m` prints it.
  package var processor = "x86_64"
  package var kernel = ""
  /// The minor version of glibc, such as 36 for glibc 2.36; nil with another C library.
  package var cLibrary: Int?
  /// `kernel.yama.ptrace_scope`; nil without Yama.
  var ptraceScope: Int?
  /// True if `/proc` is mounted with `hidepid`, and this process is not exempt.
  var hidesProcesses = false
  /// The label of a security module for this process; nil without one.
  var securityLabel: String?
  package var cores = CoreSettings()
  /// The memory use of this process's control group; nil if the group has no limit.
  var groupMemory: ProcessMemoryUse.GroupUse?
  /// True if addresses of debuginfod servers are set. leaktrace does not query these servers.
  var namesDebuginfod = false

  package init() {}

  package var isRoot: Bool { userID == 0 }
  var mayTraceOthers: Bool { capabilities.contains(.tracing) }
  /// True if the kernel lets this process suspend another process's filter (`PTRACE_O_SUSPEND_SECCOMP`) and read it.
  var maySuspendFilters: Bool {
    capabilities.contains(.administration) && isInFirstUserNamespace && filter == .none
  }
}
