// The files that are found and accepted for an image, and the messages about other files.

import Foundation
import Testing
import TraceReading
import TraceSymbolication

@Suite struct DebugFileSearchTests {
  let program: ProgramFixture
  let files: TemporaryDirectory
  let stripped: String
  let debugFile: String

  init() throws {
    program = try SharedProgram.cOptimised.get()
    files = try TemporaryDirectory()
    stripped = files.path("stripped")
    debugFile = files.path("program.debug")
    try program.split(stripped: stripped, debugFile: debugFile)
  }

  /// Returns the frames at the start of `twice`, and the problems of the image.
  func lookUp(
    path: String, buildID: [UInt8]? = nil, search: DebugFileSearch = DebugFileSearch(systemDebugPath: "/nonexistent")
  ) throws -> (frames: [SourceFrame], problems: [ImageProblem]) {
    let image = program.image(path: path, buildID: buildID)
    let symbolicator = Symbolicator(images: [image], search: search)
    let frames = symbolicator.frames(for: .exact(try program.address(of: "twice")), in: image)
    return (frames, symbolicator.problems)
  }

  func expectEverything(
    _ result: (frames: [SourceFrame], problems: [ImageProblem]), sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(result.frames.last?.function == "twice", sourceLocation: sourceLocation)
    #expect(result.frames.last?.line == 13, sourceLocation: sourceLocation)
    #expect(result.problems == [], sourceLocation: sourceLocation)
  }

  func expectNothing(
    _ result: (frames: [SourceFrame], problems: [ImageProblem]), _ reason: ImageProblem.Reason,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(result.frames.map(\.isNamed) == [false], sourceLocation: sourceLocation)
    #expect(result.problems.map(\.reason) == [reason], sourceLocation: sourceLocation)
  }

  var hexID: String { program.buildID.map { String(format: "%02x", $0) }.joined() }

  @Test func unstrippedFileAtItsOwnPathIsComplete() throws {
    expectEverything(try lookUp(path: program.path))
  }

  @Test func missingFileIsReported() throws {
    expectNothing(try lookUp(path: files.path("gone")), .fileMissing)
  }

  @Test func fileOfAnotherBuildIsRejected() throws {
    let other = try ProgramFixture(
      "clang", ["-O2", "-g", "-Wl,--build-id=0x0102030405060708"], source: Programs.c, fileName: "sample.c")
    expectNothing(try lookUp(path: other.path), .buildIDMismatch(expected: hexID, found: "0102030405060708"))
  }

  @Test func fileWithoutABuildIDIsRejectedForATraceWithOne() throws {
    let other = try ProgramFixture(
      "clang", ["-O2", "-g", "-Wl,--build-id=none"], source: Programs.c, fileName: "sample.c")
    expectNothing(try lookUp(path: other.path), .buildIDMismatch(expected: hexID, found: ""))
  }

  @Test func fileIsAcceptedUnverifiedIfTheTraceHasNoBuildID() throws {
    let result = try lookUp(path: program.path, buildID: [])
    #expect(result.frames.last?.line == 13)
    #expect(result.problems.map(\.reason) == [.unverified])
  }

  @Test func strippedProgramHasNoSymbols() throws {
    let result = try lookUp(path: stripped)
    #expect(result.frames.map(\.isNamed) == [false])
    #expect(result.problems.map(\.reason) == [.noSymbols])
    #expect(result.problems.first?.file == stripped)
  }

  @Test func symbolsWithoutDebugInformationGiveOnlyNames() throws {
    let path = files.path("plain")
    try Tool.run("strip", ["--strip-debug", "-o", path, program.path])
    let result = try lookUp(path: path)
    #expect(result.frames.map(\.function) == ["twice"])
    #expect(result.frames[0].line == nil)
    #expect(result.problems.map(\.reason) == [.noDebugInformation])
  }

  @Test func exportedFunctionsOfAStrippedLibraryKeepTheirNames() throws {
    let library = try ProgramFixture(
      "clang", ["-O2", "-shared", "-fPIC"], source: Programs.c, fileName: "sample.c", output: "libsample.so")
    let path = files.path("libsample.so")
    try Tool.run("strip", ["--strip-all", "-o", path, library.path])
    let image = library.image(path: path)
    let frames = Symbolicator(images: []).frames(for: .exact(try library.address(of: "twice", plus: 4)), in: image)
    #expect(frames.map(\.function) == ["twice"])
  }

  @Test func debugFileIsFoundByBuildID() throws {
    let name = "debug/.build-id/" + hexID.prefix(2) + "/" + hexID.dropFirst(2) + ".debug"
    try files.copy(debugFile, to: name)
    let search = DebugFileSearch(debugPaths: [files.path("debug")], systemDebugPath: "/nonexistent")
    expectEverything(try lookUp(path: stripped, search: search))
    // The program's own file may be missing.
    expectEverything(try lookUp(path: files.path("gone"), search: search))
    // The system's debug directory is searched as well.
    expectEverything(try lookUp(path: stripped, search: DebugFileSearch(systemDebugPath: files.path("debug"))))
  }

  @Test func debugFileUnderTheWrongBuildIDIsRejected() throws {
    let other = try ProgramFixture(
      "clang", ["-O2", "-g", "-Wl,--build-id=0x0102030405060708"], source: Programs.c, fileName: "sample.c")
    try files.copy(other.path, to: "debug/.build-id/" + hexID.prefix(2) + "/" + hexID.dropFirst(2) + ".debug")
    let search = DebugFileSearch(debugPaths: [files.path("debug")], systemDebugPath: "/nonexistent")
    expectNothing(
      try lookUp(path: stripped, search: search), .buildIDMismatch(expected: hexID, found: "0102030405060708"))
  }

  @Test(arguments: ["", "/opt/shop/bin"]) func unstrippedCopyIsFoundInADebugPathByNameOrPath(_ directory: String)
    throws
  {
    try files.copy(program.path, to: "copies\(directory)/shop")
    let search = DebugFileSearch(debugPaths: [files.path("copies")], systemDebugPath: "/nonexistent")
    expectEverything(try lookUp(path: "/opt/shop/bin/shop", search: search))
  }

  @Test(arguments: ["program.debug", ".debug/program.debug"]) func debugLinkFindsAFileBesideTheProgram(
    _ place: String
  ) throws {
    let (path, _) = try linked(debugFileAt: "bin/" + place)
    expectEverything(try lookUp(path: path))
  }

  @Test func debugLinkFindsAFileInTheDebugPath() throws {
    let (path, _) = try linked(debugFileAt: "elsewhere/program.debug")
    expectEverything(
      try lookUp(
        path: path, search: DebugFileSearch(debugPaths: [files.path("elsewhere")], systemDebugPath: "/nonexistent")))
  }

  @Test func debugLinkRejectsAFileWithAnotherChecksum() throws {
    let (path, file) = try linked(debugFileAt: "bin/program.debug")
    let handle = try #require(FileHandle(forWritingAtPath: file))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data([0]))
    try handle.close()
    let result = try lookUp(path: path)
    #expect(result.frames.map(\.isNamed) == [false])
    #expect(result.problems.map(\.reason) == [.noSymbols])
  }

  /// Returns a stripped program with a debug link, and the debug file that the link names.
  func linked(debugFileAt place: String) throws -> (program: String, debugFile: String) {
    let path = try files.copy(stripped, to: "bin/program")
    let file = try files.copy(debugFile, to: place)
    try Tool.run("objcopy", ["--add-gnu-debuglink=" + file, path])
    return (path, file)
  }

  @Test func sysrootPrecedesEveryPath() throws {
    try files.copy(stripped, to: "root/opt/shop/shop")
    try files.copy(
      debugFile, to: "root/usr/lib/debug/.build-id/" + hexID.prefix(2) + "/" + hexID.dropFirst(2) + ".debug")
    expectEverything(try lookUp(path: "/opt/shop/shop", search: DebugFileSearch(sysroot: files.path("root/"))))
    // With a sysroot, this machine's own files are not used: they belong to another system.
    expectNothing(
      try lookUp(path: program.path, buildID: [9, 9, 9], search: DebugFileSearch(sysroot: files.path("root"))),
      .fileMissing)
  }

  @Test func deletedSuffixIsRemovedFromTheFileName() throws {
    expectEverything(try lookUp(path: program.path + " (deleted)"))
  }

  @Test func otherFileFormatsAreReported() throws {
    let path = try files.write("#!/bin/sh\\necho hello, this is not a program at all\\n", to: "script")
    expectNothing(try lookUp(path: path), .unreadable(.notELF(offset: FileOffset(0))))
    let empty = try files.write("", to: "empty")
    expectNothing(try lookUp(path: empty), .unreadable(.notELF(offset: FileOffset(0))))
  }

  @Test func directoryOrPipeAtThePathIsNotRead() throws {
    expectNothing(try lookUp(path: files.root), .unreadable(.notARegularFile))
    let pipe = files.path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    expectNothing(try lookUp(path: pipe), .unreadable(.notARegularFile))
  }

  @Test func kernelCodeHasNoMissingFile() throws {
    let result = try lookUp(path: "[vdso]")
    #expect(result.frames.map(\.isNamed) == [false])
    #expect(result.problems.isEmpty)
  }
}
