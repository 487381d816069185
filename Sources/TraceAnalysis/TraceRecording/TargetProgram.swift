// Finding the program of a command, and deciding whether it can be traced.

import Glibc
import TextWriting
import TraceReading

/// A program that can be started under the recorder.
package struct TargetProgram: Hashable, Sendable {
  /// The path to execute.
  package var path: String
  /// The shell for a script without a `#!` line; nil for other programs. The shell gets the command's path and
  /// arguments.
  package var shellForScript: String?
  /// Warnings that the user should see before using the recording.
  package var warnings: [Warning]
  /// The possible values of `%n` in the names of the process's traces.
  package var programNames: [String]

  package enum Warning: Hashable, Sendable, CustomStringConvertible {
    /// The Swift runtime is inside the program, and the symbols were stripped.
    case swiftRuntimeWithoutSymbols(path: String)

    package var description: String {
      switch self {
      case .swiftRuntimeWithoutSymbols(let path):
        return "\(path) contains the Swift runtime (-static-stdlib) but no symbol table: "
          + "it is traced for malloc alone. Trace a build that is not stripped to see objects, retains and releases"
      }
    }
  }
}

extension TargetProgram {
  /// Finds `command` in the same way as `execvp`, and follows `#!` lines to the file that is finally executed.
  ///
  /// - Parameter searchPath: The value of PATH, or nil for the system's default.
  /// - Parameter userID: The real user who starts the program. `groupID` is the real group.
  /// - Throws: `RecordingError` if there is no such program, or it cannot be traced.
  package static func find(
    command: String, searchPath: String?, userID: UInt32, groupID: UInt32
  ) throws(RecordingError) -> TargetProgram {
    let path = try locate(command, searchPath)
    var program = TargetProgram(path: path, shellForScript: nil, warnings: [], programNames: names(path))
    var current = path
    for _ in 0..<5 {
      // A file that cannot be read (mode 0111) may still be executable, so accept it without a check.
      guard let kind = try ExecutableKind.read(path: current) else { return program }
      switch kind {
      case .script(let interpreter, _):
        current = interpreter
        program.programNames += names(interpreter)
        if let denial = denialOfExecution(interpreter) {
          throw .commandNotExecutable(
            path: path, reason: "its interpreter \(interpreter) cannot be run: \(denial.text)")
        }
      case .unknown:
        guard current == path else { throw .commandNotExecutable(path: current, reason: "not a program") }
        try refuseBinary(path)
        program.shellForScript = "/bin/sh"
        program.programNames += names("/bin/sh")
        current = "/bin/sh"
      case .elfOfOtherClass:
        throw .untraceable(path: current, .notSixtyFourBit)
      case .elfOfOtherByteOrder(let machine):
        throw .untraceable(path: current, .otherMachine(machine))
      case .elf(let outline):
        try judge(outline, path: current)
        if let privilege = privilege(of: current, userID: userID, groupID: groupID) {
          throw .untraceable(path: current, .privileged(privilege))
        }
        if outline.containsSwiftRuntime && !outline.hasSymbolTable {
          program.warnings.append(.swiftRuntimeWithoutSymbols(path: current))
        }
        return program
      }
    }
    throw .commandNotExecutable(path: path, reason: "too many levels of #! interpreters")
  }

  /// Returns the name of a file and, if it is a symbolic link, the name of the link's target.
  private static func names(_ path: String) -> [String] {
    guard let resolved = realpath(path, nil) else { return [lastComponent(path)] }
    defer { free(resolved) }
    let other = lastComponent(String(cString: resolved))
    return other == lastComponent(path) ? [other] : [lastComponent(path), other]
  }

  private static func judge(_ outline: ExecutableOutline, path: String) throws(RecordingError) {
    guard outline.machine == ExecutableOutline.ownMachine else {
      throw .untraceable(path: path, .otherMachine(outline.machine))
    }
    guard let loader = outline.loader else {
      // The loader itself can run as a program. It also preloads libraries in that case.
      if let name = outline.ownName, name.hasPrefix("ld-linux") { return }
      throw .untraceable(path: path, .staticallyLinked)
    }
    if lastComponent(loader).hasPrefix("ld-musl") { throw .untraceable(path: path, .otherLoader(loader)) }
    if let library = outline.neededLibraries.first(where: {
      $0.hasPrefix("libasan.so") || $0.hasPrefix("libclang_rt.asan")
    }) {
      throw .untraceable(path: path, .sharedSanitizer(library))
    }
  }

  /// Throws if a file is obviously not text. As with execvp, the shell runs files that are neither ELF nor `#!`.
  private static func refuseBinary(_ path: String) throws(RecordingError) {
    guard let file = ReadOnlyFile(path: path) else { return }
    let firstLine = file.bytes(at: 0, count: 128).prefix { $0 != 0x0A }
    if firstLine.contains(0) { throw .commandNotExecutable(path: path, reason: "cannot execute: not a program") }
  }

  /// Returns how the file changes the rights of the process that runs it; nil if it changes none. After such a
  /// change, the loader ignores LD_PRELOAD.
  private static func privilege(of path: String, userID: UInt32, groupID: UInt32) -> UntraceableReason.Privilege? {
    var information = stat()
    guard stat(path, &information) == 0 else { return nil }
    if information.st_mode & S_ISUID != 0, information.st_uid != userID { return .setUserID }
    if information.st_mode & S_ISGID != 0, information.st_mode & S_IXGRP != 0, information.st_gid != groupID {
      return .setGroupID
    }
    if userID != 0, hasFileCapabilities(path: path) { return .fileCapabilities }
    return nil
  }

  private static func locate(_ command: String, _ searchPath: String?) throws(RecordingError) -> String {
    guard !command.isEmpty else { throw .commandNotFound("''") }
    if command.contains("/") {
      guard let denial = denialOfExecution(command) else { return command }
      if denial.code == ENOENT || denial.code == ENOTDIR { throw .commandNotFound(command) }
      throw .commandNotExecutable(path: command, reason: denial.text)
    }
    var refused: (path: String, reason: String)?
    for directory in (searchPath ?? "/bin:/usr/bin").split(separator: ":", omittingEmptySubsequences: false) {
      // An empty entry means the current directory.
      let candidate = directory.isEmpty ? "./\(command)" : "\(directory)/\(command)"
      guard let denial = denialOfExecution(candidate) else { return candidate }
      if denial.code == EACCES && refused == nil { refused = (candidate, denial.text) }
    }
    if let refused { throw .commandNotExecutable(path: refused.path, reason: refused.reason) }
    throw .commandNotFound(command)
  }

  private static func denialOfExecution(_ path: String) -> (code: Int32, text: String)? {
    var information = stat()
    guard stat(path, &information) == 0 else { return (errno, systemErrorText(errno)) }
    if information.st_mode & S_IFMT == S_IFDIR { return (EACCES, "is a directory") }
    guard information.st_mode & S_IFMT == S_IFREG else { return (EACCES, "not a regular file") }
    guard faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 else { return (errno, systemErrorText(errno)) }
    return nil
  }
}

extension TargetProgram {
  /// Returns whether the program is a toolchain's `swift` command that runs the tests of a package.
  ///
  /// - Parameter arguments: The command's arguments, without the command's name.
  package func isSwiftTest(arguments: some Collection<String>) -> Bool {
    path.hasSuffix("/swift-test") || path.hasSuffix("/swift") && arguments.first == "test"
  }
}

extension ExecutableOutline {
  /// The ELF machine number of the processor that runs this code.
  static var ownMachine: UInt16 {
    #if arch(x86_64)
      return 62
    #elseif arch(arm64)
      return 183
    #else
      #error("unsupported processor")
    #endif
  }
}

func lastComponent(_ path: String) -> String {
  path.split(separator: "/").last.map(String.init) ?? path
}
