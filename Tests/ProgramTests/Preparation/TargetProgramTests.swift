// The file that a command runs, and whether that file can be traced.

import Foundation
import Testing
import TraceReading
@testable import TraceRecording

struct TargetProgramTests {
  private func find(_ command: String, path: String? = "/usr/bin:/bin", user: UInt32 = getuid()) throws -> TargetProgram
  {
    try TargetProgram.find(command: command, searchPath: path, userID: user, groupID: getgid())
  }

  private func script(_ text: String, in directory: TemporaryDirectory, _ name: String = "script") throws -> String {
    let path = try directory.write(text, to: name)
    #expect(chmod(path, 0o755) == 0)
    return path
  }

  @Test("PATH is searched in order, and an empty entry is the current directory") func search() throws {
    let directory = try TemporaryDirectory()
    let path = try script("#!/bin/sh\n", in: directory, "sort")
    #expect(try find("sort", path: "/nonexistent:\(directory.path):/usr/bin").path == path)
    #expect(try find("sort", path: "/usr/bin:\(directory.path)").path == "/usr/bin/sort")
    #expect(try find("sort", path: nil).path.hasSuffix("/sort"))
    #expect(throws: RecordingError.commandNotFound("no-such-command")) {
      try find("no-such-command", path: ":/usr/bin")
    }
    #expect(throws: RecordingError.commandNotFound("/no/such/command")) { try find("/no/such/command") }
  }

  @Test("Non-executable files are distinguished from missing ones") func notExecutable() throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("text", to: "file")
    #expect(throws: RecordingError.commandNotExecutable(path: file, reason: "Permission denied")) { try find(file) }
    #expect(throws: RecordingError.commandNotExecutable(path: file, reason: "Permission denied")) {
      try find("file", path: directory.path)
    }
    #expect(throws: RecordingError.commandNotExecutable(path: "/usr", reason: "is a directory")) { try find("/usr") }
  }

  @Test("Interpreter lines are followed to the program") func interpreters() throws {
    let directory = try TemporaryDirectory()
    let inner = try script("#! /bin/sh -e\necho\n", in: directory, "inner")
    let outer = try script("#!\(inner)\n", in: directory, "outer")
    // If sh is a link to another shell, the process may have either name.
    #expect(Array(try find(outer).programNames.prefix(3)) == ["outer", "inner", "sh"])
    let lost = try script("#!/no/such/interpreter\n", in: directory, "lost")
    #expect(
      throws: RecordingError.commandNotExecutable(
        path: lost, reason: "its interpreter /no/such/interpreter cannot be run: No such file or directory")
    ) { try find(lost) }
    let endless = try script("#!\(directory.path)/endless\n", in: directory, "endless")
    #expect(throws: RecordingError.commandNotExecutable(path: endless, reason: "too many levels of #! interpreters")) {
      try find(endless)
    }
  }

  @Test("Text without an interpreter line goes to the shell, and binary data does not") func shellText() throws {
    let directory = try TemporaryDirectory()
    #expect(try find(try script("echo hello\n", in: directory)).shellForScript == "/bin/sh")
    #expect(try find(try script("", in: directory, "empty")).shellForScript == "/bin/sh")
    #expect(throws: RecordingError.self) { try find(try script("a\0b", in: directory, "bytes")) }
  }

  @Test("Programs of another kind are refused with the reason") func otherKinds() throws {
    let directory = try TemporaryDirectory()
    let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try TestProgram("endings.c").path())))
    func changed(_ name: String, _ change: (inout [UInt8]) -> Void) throws -> String {
      var bytes = whole
      change(&bytes)
      let path = "\(directory.path)/\(name)"
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      #expect(chmod(path, 0o755) == 0)
      return path
    }
    let narrow = try changed("narrow") { $0[4] = 1 }
    #expect(throws: RecordingError.untraceable(path: narrow, .notSixtyFourBit)) { try find(narrow) }
    let foreign = try changed("foreign") { $0[18] = 243 }
    #expect(throws: RecordingError.untraceable(path: foreign, .otherMachine(243))) { try find(foreign) }
    let reversed = try changed("reversed") { ($0[5], $0[18], $0[19]) = (2, 0, 22) }
    #expect(throws: RecordingError.untraceable(path: reversed, .otherMachine(22))) { try find(reversed) }
    let statically = try TestProgram("endings.c", flags: ["-static"]).path()
    #expect(throws: RecordingError.untraceable(path: statically, .staticallyLinked)) { try find(statically) }
    let musl = try changed("musl") { bytes in
      let loader = Array("/lib64/ld-linux-x86-64.so.2".utf8), other = Array("/lib/ld-musl-x86_64.so.1\0\0\0".utf8)
      if let at = bytes.indices.dropLast(loader.count).first(where: { bytes[$0...].starts(with: loader) }) {
        bytes.replaceSubrange(at..<at + loader.count, with: other)
      }
    }
    #if arch(x86_64)
      #expect(throws: RecordingError.untraceable(path: musl, .otherLoader("/lib/ld-musl-x86_64.so.1"))) {
        try find(musl)
      }
    #endif
  }

  @Test("A program truncated at any byte is refused or judged") func truncation() throws {
    let directory = try TemporaryDirectory()
    let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try TestProgram("endings.c").path())))
    for length in Array(0..<1200) + stride(from: 1200, to: whole.count, by: 211) {
      let path = directory.path + "/cut"
      try Data(whole[..<length]).write(to: URL(fileURLWithPath: path))
      #expect(chmod(path, 0o755) == 0)
      do { _ = try find(path) } catch let error as RecordingError {
        switch error {
        case .damagedExecutable, .commandNotExecutable, .untraceable: break
        default: Issue.record("\(length): \(error)")
        }
      }
    }
  }

  @Test("Set-user-ID and set-group-ID count only if they change the user or group", .enabled(if: getuid() == 0))
  func privileges() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/program"
    try FileManager.default.copyItem(atPath: try TestProgram("endings.c").path(), toPath: path)
    #expect(chown(path, 65534, 65534) == 0)
    #expect(chmod(path, 0o4755) == 0)
    #expect(throws: RecordingError.untraceable(path: path, .privileged(.setUserID))) { try find(path) }
    #expect(try find(path, user: 65534).path == path)
    #expect(chmod(path, 0o2755) == 0)
    #expect(throws: RecordingError.untraceable(path: path, .privileged(.setGroupID))) { try find(path) }
    // Without execute permission for the group, the set-group-ID bit enables mandatory locking.
    #expect(chmod(path, 0o2745) == 0)
    #expect(try find(path).path == path)
  }

  @Test("A built-in runtime is detected, with or without its symbols") func staticRuntime() throws {
    let program = TestProgram("plain.swift", flags: ["-static-stdlib"])
    #expect(try find(try program.path()).warnings == [])
    let stripped = try program.strippedPath()
    #expect(try find(stripped).warnings == [.swiftRuntimeWithoutSymbols(path: stripped)])
    #expect(try find(try TestProgram("plain.swift").strippedPath()).warnings == [])
    #expect(try find(try TestProgram("endings.c").strippedPath()).warnings == [])
  }

  @Test("Program headers are read as by readelf") func outline() throws {
    guard case .elf(let outline)? = try ExecutableKind.read(path: try TestProgram("plain.swift").path()) else {
      Issue.record("not read as ELF")
      return
    }
    #expect(outline.machine == ExecutableOutline.ownMachine)
    #expect(outline.neededLibraries.contains("libswiftCore.so"))
    #expect(outline.neededLibraries.contains("libc.so.6"))
    #expect(outline.loader?.contains("/ld-linux") == true)
    #expect(outline.sectionNames.isSuperset(of: [".text", ".symtab", "swift5_type_metadata", ".eh_frame"]))
    #expect(outline.ownName == nil)
  }

  @Test("The dynamic loader itself can be run as a program") func loader() throws {
    let loader = try #require(
      ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"].first {
        FileManager.default.fileExists(atPath: $0)
      })
    #expect(try find(loader).path == loader)
  }
}
