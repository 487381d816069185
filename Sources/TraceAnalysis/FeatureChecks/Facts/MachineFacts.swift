// Facts about this process and the system that it runs on.

import ProcessInspection

/// Capabilities of a process, as the kernel's bits (`/proc/PID/status`, capabilities(7)).
package struct Capabilities: OptionSet, Hashable, Sendable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package static let tracing = Capabilities(rawValue: 1 << 19)
  package static let administration = Capabilities(rawValue: 1 << 21)
}

/// The mode of a process's limits on its own system calls (seccomp). The raw value is the kernel's.
package enum CallFilter: Int, Hashable, Sendable { case none, strict, filter }

/// Facts about this process and its system. Everything in it can be set, so that tests can describe other machines.
package struct MachineFacts: Hashable, Sendable {
  package enum Container: String, Hashable, Sendable { case none, docker, podman, kubernetes, other }

  /// The system's ways to write core files.
  package struct CoreSettings: Hashable, Sendable {
    /// `kernel.core_pattern`; begins with `|` if a program takes the cores.
    package var pattern = "core"
    /// Bytes at most, for programs that are started here; nil for no limit.
    package var sizeLimit: UInt64? = 0
    package var hasGcore = false

    package init() {}

    package var isTakenByProgram: Bool { pattern.hasPrefix("|") }
    package var taker: String {
      pattern.dropFirst().split(separator: " ").first?.split(separator: "/").last.map(String.init) ?? ""
    }
  }

  /// Effective.
  package var userID: UInt32 = 0
  package var groupID: UInt32 = 0
  /// Effective.
  package var capabilities: Capabilities = []
  package var filter = CallFilter.none
  /// `no_new_privs` is set: neither sudo nor file capabilities can give rights to this process.
  package var cannotGainRights = false
  /// Capabilities count for the whole machine, and not for a user namespace alone.
  package var isInFirstUserNamespace = true
  package var container = Container.none
  /// As `uname -m` prints it.
  package var processor = "x86_64"
  package var kernel = ""
  /// The 36 of glibc 2.36; nil with another C library.
  package var cLibrary: Int?
  /// `kernel.yama.ptrace_scope`; nil without Yama.
  package var ptraceScope: Int?
  /// `/proc` is mounted with `hidepid`, and this process is not exempt.
  package var hidesProcesses = false
  /// The label of a security module for this process; nil without one.
  package var securityLabel: String?
  package var cores = CoreSettings()
  /// Of this process's control group; nil if it has no limit.
  package var groupMemory: ProcessMemoryUse.GroupUse?
  /// Addresses of debuginfod servers are set, which leaktrace does not ask.
  package var namesDebuginfod = false

  package init() {}

  package var isRoot: Bool { userID == 0 }
  package var mayTraceOthers: Bool { capabilities.contains(.tracing) }
  /// The kernel suspends another process's filter for this one (`PTRACE_O_SUSPEND_SECCOMP`), and shows it.
  package var maySuspendFilters: Bool {
    capabilities.contains(.administration) && isInFirstUserNamespace && filter == .none
  }
}
