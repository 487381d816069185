// Reads facts about a process, without stopping it.

import Glibc
import ProcessAttachment
import ProcessInspection
import TextWriting
import TraceReading
import TraceRecording
import TraceSymbolication

extension TargetFacts {
  /// Examines a process.
  ///
  /// - Throws: `InspectionError.noSuchProcess`.
  /// - Complexity: Linear in the process's threads, mappings and files.
  package init(
    looking process: Int32, _ machine: MachineFacts, _ surroundings: CheckSurroundings, trials: inout TrialFacts
  ) throws(InspectionError) {
    self.init(processID: process)
    checkingUser = machine.userID
    do throws(InspectionError) { try TracingRights.check(process) } catch {
      guard case .unsuitable(_, let reason) = error else { throw error }
      unsuitability = reason
    }
    noteStatus()
    let seized = unsuitability == nil ? Seizure.attempt(process) : 0
    if unsuitability == nil { trials.seize = seized == 0 ? .done(true) : .failed(.system(errno: seized)) }
    noteProgram()
    noteOutline(surroundings, &trials)
    noteJoining(surroundings)
    noteCores()
    memory = ProcessMemoryUse(of: process)
  }

  /// Returns the processes of this system that have a given process ID in their own PID namespace. Tools inside a
  /// container show this ID.
  package static func processes(withOwnNumber number: Int32) -> [Int32] {
    ProcessMappings.processIDs().filter { process in
      let numbers = ProcFile.lines("/proc/\(process)/status")["NSpid"]?.split(separator: "\t") ?? []
      return numbers.count > 1 && numbers.last == "\(number)"
    }
  }

  private mutating func noteStatus() {
    let status = ProcFile.lines("/proc/\(processID)/status")
    func numbers(_ field: Substring) -> [UInt32] {
      (status[field]?.split(separator: "\t") ?? []).prefix(3).compactMap { UInt32($0) }
    }
    isHidden = status.isEmpty
    userIDs = numbers("Uid")
    groupIDs = numbers("Gid")
    capabilities = Capabilities(rawValue: MachineFacts.bits(status["CapPrm"]))
    let own = status["NSpid"]?.split(separator: "\t") ?? []
    if own.count > 1 { ownNumber = own.last.flatMap { Int32($0) } }
    // Use the strictest mode of all threads.
    filter = CallFilter(status: status)
    for thread in Self.threads(of: processID) where filter != .strict {
      let its = CallFilter(status: ProcFile.lines("/proc/\(processID)/task/\(thread)/status"))
      if its != .none, its == .strict || filter == .none { filter = its }
    }
    securityLabel = MachineFacts.label(of: "\(processID)")
    var information = stat()
    if stat("/proc/\(processID)/maps", &information) == 0, userIDs.count > 1 {
      // If a process denies access, its files in /proc belong to root (proc(5)). The directory of the process in /proc
      // still belongs to the process's user.
      isDumpable = information.st_uid == userIDs[1]
    }
    let (here, there) = ("/proc/self/ns/user", "/proc/\(processID)/ns/user")
    let namespace = ProcFile.target(ofLink: there)
    if !namespace.isEmpty { userNamespace = namespace == ProcFile.target(ofLink: here) ? .same : .other }
    if let state = status["State"], state.hasPrefix("T") { joinObstacle = .stopped }
  }

  private static func threads(of process: Int32) -> [Int32] {
    guard let directory = opendir("/proc/\(process)/task") else { return [] }
    defer { closedir(directory) }
    var found: [Int32] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let thread = Int32(name) { found.append(thread) }
    }
    return found
  }

  /// Checks the program's file as `leaktrace record` does before it starts a program.
  private mutating func noteProgram() {
    let link = "/proc/\(processID)/exe"
    let path = ProcFile.target(ofLink: link)
    guard !path.isEmpty else { return }
    program = DebugFileSearch.withoutDeletion(path)
    do throws(RecordingError) {
      _ = try TargetProgram.find(
        command: link, searchPath: nil, userID: userIDs.first ?? checkingUser, groupID: groupIDs.first ?? 0)
    } catch {
      if case .untraceable = error { startObstacle = error }
    }
    let names = ExportedNames.defined(among: ["malloc", "__asan_init", "__tsan_init", "__lsan_init"], inFile: link)
    if names.contains("malloc") { allocator = .inside }
    if names.contains(where: { $0.hasPrefix("__") }) { sanitizer = program.map { fileName(ofPath: $0) } }
    if case .elf(let outline)? = try? ExecutableKind.read(path: link), outline.containsSwiftRuntime { hasSwift = true }
  }

  /// Reads the process's loaded images. This is also the attempt to read its memory.
  private mutating func noteOutline(_ surroundings: CheckSurroundings, _ trials: inout TrialFacts) {
    guard unsuitability == nil || unsuitability.map({ if case .traced = $0 { true } else { false } }) == true else {
      return
    }
    let outline: ProcessOutline
    do throws(InspectionError) { outline = try ProcessOutline(of: processID) } catch {
      if case .processRefused(_, let code) = error { trials.read = .failed(.system(errno: code)) }
      return
    }
    trials.read = outline.readError == 0 ? .done(outline.readBytes) : .failed(.system(errno: outline.readError))
    cLibrary = outline.cLibrary
    let names = outline.images.map { fileName(ofPath: DebugFileSearch.withoutDeletion($0.path)) }
    noteLibraries(names)
    let runtime = outline.images.first { $0.path.hasSuffix("/libswift_Concurrency.so") }
    if names.contains("libswiftCore.so") { hasSwift = true }
    if let runtime { swiftVersion = Self.swiftVersion(outline.files.byBuildID[runtime.buildID]?.first ?? runtime.path) }
    let search = DebugFileSearch().among(outline.files)
    // Choose loaded images as a report does: it needs no lines for system libraries.
    let own = outline.images.filter {
      $0.path.hasPrefix("/") && !SystemCode.isSystemImage($0.path) && !SystemCode.isOfOperatingSystem($0.path)
    }
    checkedFiles = own.count
    fileProblems = own.flatMap { ImageFileCheck.problems(of: $0, search: search) }
    wasStartedWithMoreRights = Self.isSecure(ProcFile.bytes("/proc/\(processID)/auxv", limit: 1 << 12))
  }

  private mutating func noteLibraries(_ names: [String]) {
    let allocators = ["libjemalloc", "libtcmalloc", "libmimalloc"]
    let sanitizers = ["libasan", "libtsan", "liblsan", "libclang_rt.asan", "libclang_rt.tsan", "libclang_rt.lsan"]
    if let name = names.first(where: { name in allocators.contains { name.hasPrefix($0) } }) {
      allocator = .library(name)
    } else if allocator == .unknown, names.contains(where: { $0.hasPrefix("libc.so") || $0.hasPrefix("libc-2.") }) {
      allocator = .glibc
    }
    if sanitizer == nil { sanitizer = names.first { name in sanitizers.contains { name.hasPrefix($0) } } }
    if names.contains(where: { $0.hasPrefix("ld-musl") || $0.hasPrefix("libc.musl") }) { joinObstacle = .otherLibrary }
    if names.contains(PreloadLibrary.fileName) { recording = .loaded }
  }

  /// Finds the version by names that only newer runtimes export (docs/runtimes.md). 6.2.3 and 6.3.1 export
  /// `_swift_concurrency_debug_asyncTaskSize`. 6.1.2 and later export the version of the task layout.
  static func swiftVersion(_ path: String) -> SwiftVersion {
    let size = "_swift_concurrency_debug_asyncTaskSize", layout = "_swift_concurrency_debug_internal_layout_version"
    let executor = "swift_task_getPreferredTaskExecutor"
    guard access(path, R_OK) == 0 else { return .unknown }
    let names = ExportedNames.defined(among: [size, layout, executor], inFile: path)
    if names.contains(size) { return .v6_2OrLater }
    if names.contains(layout) { return .v6_1 }
    return names.contains(executor) ? .v6_0 : .before6
  }

  /// Reads `AT_SECURE` from a process's auxiliary vector, which is a list of word pairs. Returns nil if it is missing.
  static func isSecure(_ vector: [UInt8]) -> Bool? {
    vector.withUnsafeBytes { bytes in
      for at in stride(from: 0, to: bytes.count - 15, by: 16)
      where bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self) == UInt64(AT_SECURE) {
        return bytes.loadUnaligned(fromByteOffset: at + 8, as: UInt64.self) != 0
      }
      return nil
    }
  }

  private mutating func noteJoining(_ surroundings: CheckSurroundings) {
    let view: TargetView
    do throws(AttachmentError) { view = try TargetView(of: processID) } catch {
      if case .unsuitable(_, let reason) = error, joinObstacle == nil { joinObstacle = reason }
      return
    }
    sharesFiles = view.sharesFiles
    var information = stat()
    seesProcesses = lstat(view.ownPath("/proc/self"), &information) == 0
    hasSwift = hasSwift || view.hasSwift
    if let path = view.recordedTraces().first {
      let isAttached = (try? TraceReader(path: path, part: .whole))?.definitions.process.isAttached
      recording = .runs(tracePath: path, isAttached: isAttached ?? false)
    }
    if joinObstacle == nil, case .untraceable(_, let reason)? = startObstacle {
      switch reason {
      case .staticallyLinked: joinObstacle = .static
      case .otherLoader: joinObstacle = .otherLibrary
      default: break
      }
    }
    let temporary = view.ownPath("/tmp")
    temporaryDirectory = DirectoryFacts(looking: temporary)
    let directory = view.sharesFiles ? surroundings.traceDirectory : temporary
    traceDirectory = DirectoryFacts(looking: directory)
    traceDirectory?.note(writer: userIDs.dropFirst().first, groups: groupIDs, of: directory)
  }

  private mutating func noteCores() {
    coreSizeLimit = MachineFacts.coreLimit(limits: ProcFile.text("/proc/\(processID)/limits"))
    coreFilter = UInt64(ProcFile.word("/proc/\(processID)/coredump_filter"), radix: 16)
  }
}

extension DirectoryFacts {
  /// Sets `writeError` if another user may not write to the directory. Uses only the mode bits, since access control
  /// lists are not visible here.
  mutating func note(writer: UInt32?, groups: [UInt32], of path: String) {
    var information = stat()
    guard writeError == 0, let writer, writer != geteuid(), stat(path, &information) == 0 else { return }
    if !Self.mayWrite(writer, groups, mode: information.st_mode, owner: information.st_uid, group: information.st_gid) {
      writeError = EACCES
    }
  }

  static func mayWrite(_ user: UInt32, _ groups: [UInt32], mode: UInt32, owner: UInt32, group: UInt32) -> Bool {
    if user == 0 { return true }
    let shift: UInt32 = user == owner ? 6 : groups.contains(group) ? 3 : 0
    return mode >> shift & 3 == 3
  }
}
