// Facts about this process and its system, from the kernel.

import Glibc
import ProcessInspection
import TraceReading
import TraceRecording

/// What the caller knows of its environment, which the library does not read.
package struct CheckSurroundings: Sendable {
  /// The environment of programs that are started for an attempt: `NAME=value` entries.
  package var environment: [[UInt8]]
  /// Directories with programs, separated by colons.
  package var toolPath: String
  /// A path given for the recorder; nil for the usual places.
  package var libraryOverride: String?
  /// The command's own file, resolved.
  package var executablePath: String
  /// Arguments that make the command wait until its standard input ends: a process to look at.
  package var waitingArguments: [String]
  /// Directories for small files, in order of preference.
  package var temporaryDirectories: [String]
  /// Where traces would go. Absolute.
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

  /// An entry of that name has a value.
  func names(_ variable: String) -> Bool {
    environment.contains { $0.starts(with: Array("\(variable)=".utf8)) && $0.count > variable.utf8.count + 1 }
  }

  func hasTool(_ name: String) -> Bool {
    toolPath.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
  }
}

extension MachineFacts {
  /// The kernel's number of the first namespace of a kind (Linux, include/linux/proc_ns.h).
  private static let firstUserNamespace = "user:[4026531837]"
  private static let firstProcessNamespace = "pid:[4026531836]"

  /// Looks at this process and the system. Complexity: some small files.
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

  /// The 36 of glibc 2.36. Swift's module of the C library leaves the function out.
  private static var ownCLibrary: Int? {
    typealias Version = @convention(c) () -> UnsafePointer<CChar>
    guard let symbol = dlsym(nil, "gnu_get_libc_version") else { return nil }
    let version = String(cString: unsafeBitCast(symbol, to: Version.self)())
    return version.split(separator: ".").dropFirst().first.flatMap { Int($0) }
  }

  static func bits(_ digits: Substring?) -> UInt64 { digits.flatMap { UInt64($0, radix: 16) } ?? 0 }

  /// The label of a security module for a process; nil if there is none.
  static func label(of process: String) -> String? {
    let label = ProcFile.text("/proc/\(process)/attr/current").trimmedLine.filter { $0 != "\0" }
    return label.isEmpty ? nil : label
  }

  /// The kind of container by the signs that the tools leave.
  ///
  /// - Parameters:
  ///   - isFiltered: The process limits its system calls.
  ///   - hasNamespace: The process is in a PID namespace of its own.
  static func container(
    hasDockerFile: Bool, hasPodmanFile: Bool, isPod: Bool, groups: String, isFiltered: Bool, hasNamespace: Bool
  ) -> Container {
    if isPod || groups.contains("kubepods") { return .kubernetes }
    // A file alone says little: a virtual machine may be made of a container's files.
    let isConfined = isFiltered || hasNamespace
    if hasPodmanFile && isConfined || groups.contains("libpod") { return .podman }
    if hasDockerFile && isConfined || groups.contains("/docker") { return .docker }
    return hasNamespace ? .other : .none
  }

  /// Tells whether `/proc` hides processes of other users: hidepid of 1, 2 or 4, by number or by name (proc(5)).
  static func hidesProcesses(mounts: String) -> Bool {
    var hides = false
    for line in mounts.split(separator: "\n") {
      let fields = line.split(separator: " ")
      // The last mount at a place counts. Options of the file system are the last field.
      guard fields.count > 6, fields[4] == "/proc", let options = fields.last else { continue }
      let value = options.split(separator: ",").first { $0.hasPrefix("hidepid=") }?.dropFirst("hidepid=".count)
      hides = value.map { $0 != "0" && $0 != "off" } ?? false
    }
    return hides
  }

  /// The soft limit on core files, in bytes, in the text of `/proc/PID/limits`; nil for no limit.
  static func coreLimit(limits: String) -> UInt64? {
    for line in limits.split(separator: "\n") where line.hasPrefix("Max core file size") {
      return line.dropFirst("Max core file size".count).split(separator: " ").first.flatMap { UInt64($0) }
    }
    return nil
  }
}

extension CallFilter {
  /// By the text of a process's or thread's status.
  init(status: [Substring: Substring]) {
    self = status["Seccomp"].flatMap { CallFilter(rawValue: Int($0) ?? 0) } ?? .none
  }
}

extension DirectoryFacts {
  /// `ST_NOEXEC` of statvfs(3).
  private static let noExecution: UInt = 8

  /// Looks at a directory. `faccessat` answers for read-only file systems as well.
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
  /// A file's text, of 64 KiB at most.
  static func text(_ path: String) -> String { String(decoding: bytes(path, upTo: 1 << 16), as: UTF8.self) }
  static func word(_ path: String) -> String { text(path).trimmedLine }
}

extension String {
  /// Without the end of the line.
  var trimmedLine: String { String(prefix { $0 != "\n" }) }
}
