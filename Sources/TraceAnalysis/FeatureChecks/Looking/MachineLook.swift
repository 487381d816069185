// Reads facts about this process and its system from the kernel.

import Glibc
import ProcessInspection
import TraceReading
import TraceRecording

/// Facts that the caller knows about its own environment. This module does not read them itself.
package struct CheckSurroundings: Sendable {
  /// The environment of programs that attempts start, as `NAME=value` entries.
  package var environment: [[UInt8]]
  /// Directories with programs, separated by colons as in `PATH`.
  package var toolPath: String
  /// A path that the user gave for the recorder; nil to search the usual places.
  package var libraryOverride: String?
  /// The resolved path of the program's own file.
  package var executablePath: String
  /// Arguments that make the program wait until its standard input ends.
  package var waitingArguments: [String]
  /// Directories for small files, in order of preference.
  package var temporaryDirectories: [String]
  /// The directory for traces, as an absolute path.
  package var traceDirectory: String
  package var currentDirectory: String

  package init(
    environment: [[UInt8]], toolPath: String, libraryOverride: String?, executablePath: String,
    waitingArguments: [String], temporaryDirectories: [String], traceDirectory: String, currentDirectory: String
  ) {
    self.environment = environment
    self.toolPath = toolPath
    self.libraryOverride = libraryOverride
    self.executablePath = executablePath
    self.waitingArguments = waitingArguments
    self.temporaryDirectories = temporaryDirectories
    self.traceDirectory = traceDirectory
    self.currentDirectory = currentDirectory
  }

  /// True if the environment has a non-empty value for this name.
  func names(_ variable: String) -> Bool {
    environment.contains { $0.starts(with: Array("\(variable)=".utf8)) && $0.count > variable.utf8.count + 1 }
  }

  func hasTool(_ name: String) -> Bool {
    toolPath.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
  }
}

extension MachineFacts {
  /// The link text of the first user namespace. The numbers of the first namespaces come from Linux,
  /// include/linux/proc_ns.h.
  private static let firstUserNamespace = "user:[4026531837]"
  private static let firstProcessNamespace = "pid:[4026531836]"

  /// Reads the facts about this process and the system. Reads a few small files.
  package init(_ surroundings: CheckSurroundings) {
    self.init()
    let status = ProcFile.lines("/proc/self/status")
    userID = geteuid()
    groupID = getegid()
    capabilities = Capabilities(rawValue: Self.bits(status["CapEff"]))
    filter = CallFilter(status: status)
    cannotGainRights = status["NoNewPrivs"] == "1"
    let namespace = ProcFile.target(ofLink: "/proc/self/ns/user")
    isInFirstUserNamespace = namespace.isEmpty || namespace == Self.firstUserNamespace
    container = Self.container(
      hasDockerFile: access("/.dockerenv", F_OK) == 0, hasPodmanFile: access("/run/.containerenv", F_OK) == 0,
      isPod: surroundings.names("KUBERNETES_SERVICE_HOST"),
      groups: ProcFile.text("/proc/self/cgroup"),
      isFiltered: filter != .none,
      hasNamespace: !["", Self.firstProcessNamespace].contains(ProcFile.target(ofLink: "/proc/self/ns/pid")))
    var names = utsname()
    if uname(&names) == 0 {
      processor = withUnsafeBytes(of: names.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      kernel = withUnsafeBytes(of: names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
    cLibrary = Self.ownCLibrary
    ptraceScope = Int(ProcFile.word("/proc/sys/kernel/yama/ptrace_scope"))
    hidesProcesses = geteuid() != 0 && Self.hidesProcesses(mounts: ProcFile.text("/proc/self/mountinfo"))
    securityLabel = Self.label(of: "self")
    cores.pattern = ProcFile.text("/proc/sys/kernel/core_pattern").trimmedLine
    cores.sizeLimit = Self.coreLimit(limits: ProcFile.text("/proc/self/limits"))
    cores.hasGcore = surroundings.hasTool("gcore")
    groupMemory = ProcessMemoryUse(of: getpid())?.group
    namesDebuginfod = surroundings.names("DEBUGINFOD_URLS")
  }

  /// The minor version of this process's glibc, such as 36 for glibc 2.36. Swift's module for the C library lacks the
  /// function that returns it.
  private static var ownCLibrary: Int? {
    typealias Version = @convention(c) () -> UnsafePointer<CChar>
    guard let symbol = dlsym(nil, "gnu_get_libc_version") else { return nil }
    let version = String(cString: unsafeBitCast(symbol, to: Version.self)())
    return version.split(separator: ".").dropFirst().first.flatMap { Int($0) }
  }

  static func bits(_ digits: Substring?) -> UInt64 { digits.flatMap { UInt64($0, radix: 16) } ?? 0 }

  /// Returns a security module's label for a process; nil if there is none.
  static func label(of process: String) -> String? {
    let label = ProcFile.text("/proc/\(process)/attr/current").trimmedLine.filter { $0 != "\0" }
    return label.isEmpty ? nil : label
  }

  /// Returns the kind of container, judged by the signs that container tools leave.
  ///
  /// - Parameters:
  ///   - isFiltered: Whether the process limits its system calls.
  ///   - hasNamespace: Whether the process is in its own PID namespace.
  static func container(
    hasDockerFile: Bool, hasPodmanFile: Bool, isPod: Bool, groups: String, isFiltered: Bool, hasNamespace: Bool
  ) -> Container {
    if isPod || groups.contains("kubepods") { return .kubernetes }
    // The file alone is no proof: a virtual machine may be made from a container's files.
    let isConfined = isFiltered || hasNamespace
    if hasPodmanFile && isConfined || groups.contains("libpod") { return .podman }
    if hasDockerFile && isConfined || groups.contains("/docker") { return .docker }
    return hasNamespace ? .other : .none
  }

  /// True if `/proc` hides processes of other users: hidepid is 1, 2 or 4, as a number or a name (proc(5)).
  static func hidesProcesses(mounts: String) -> Bool {
    var hides = false
    for line in mounts.split(separator: "\n") {
      let fields = line.split(separator: " ")
      // Only the last mount at a path is visible. The file system's options are the last field.
      guard fields.count > 6, fields[4] == "/proc", let options = fields.last else { continue }
      let value = options.split(separator: ",").first { $0.hasPrefix("hidepid=") }?.dropFirst("hidepid=".count)
      hides = value.map { $0 != "0" && $0 != "off" } ?? false
    }
    return hides
  }

  /// Returns the soft limit on the size of core files, in bytes; nil for no limit. `limits`: the text of
  /// `/proc/PID/limits`.
  static func coreLimit(limits: String) -> UInt64? {
    for line in limits.split(separator: "\n") where line.hasPrefix("Max core file size") {
      return line.dropFirst("Max core file size".count).split(separator: " ").first.flatMap { UInt64($0) }
    }
    return nil
  }
}

extension CallFilter {
  /// Reads the mode from the status of a process or a thread.
  init(status: [Substring: Substring]) {
    self = status["Seccomp"].flatMap { CallFilter(rawValue: Int($0) ?? 0) } ?? .none
  }
}

extension DirectoryFacts {
  /// `ST_NOEXEC` of statvfs(3).
  private static let noExecution: UInt = 8

  /// Examines a directory. `faccessat` also reports read-only file systems.
  init(looking path: String) {
    self.init(path: path)
    var information = stat()
    if stat(path, &information) != 0 || information.st_mode & S_IFMT != S_IFDIR {
      writeError = information.st_mode == 0 ? errno : ENOTDIR
    } else if faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) != 0 {
      writeError = errno
    }
    var system = statvfs()
    guard statvfs(path, &system) == 0 else { return }
    forbidsCode = system.f_flag & Self.noExecution != 0
    freeBytes = UInt64(system.f_bavail) &* UInt64(system.f_frsize)
  }
}

extension ProcFile {
  /// Returns the text of a file, at most 64 KiB.
  static func text(_ path: String) -> String { String(decoding: bytes(path, upTo: 1 << 16), as: UTF8.self) }
  static func word(_ path: String) -> String { text(path).trimmedLine }
}

extension String {
  /// The first line, without its end.
  var trimmedLine: String { String(prefix { $0 != "\n" }) }
}
