// Where traces go.

import Foundation
import Testing
import TraceReading
@testable import TraceRecording
import TraceTestSupport

struct OutputPatternTests {
  @Test("A pattern becomes absolute, and placeholders are replaced") func expansion() throws {
    let pattern = try OutputPattern("traces/%n-%p.100%%.trace", currentDirectory: "/home/me")
    #expect(pattern.text == "/home/me/traces/%n-%p.100%%.trace")
    #expect(pattern.directory == "/home/me/traces")
    #expect(pattern.path(processID: 42, programName: "app") == "/home/me/traces/app-42.100%.trace")
    #expect(pattern.fileNamePrefix == "")
    #expect(!pattern.namesOneFileForAProgram)
  }

  @Test("A percent sign in the current directory is not a placeholder") func escaping() throws {
    let pattern = try OutputPattern("a.trace", currentDirectory: "/tmp/50%p")
    #expect(pattern.text == "/tmp/50%%p/a.trace")
    #expect(pattern.directory == "/tmp/50%p")
    #expect(pattern.path(processID: 1, programName: "x") == "/tmp/50%p/a.trace")
    #expect(pattern.namesOneFileForAProgram)
    #expect(pattern.fileNamePrefix == "a.trace")
  }

  @Test("A file in the root directory has one slash") func root() throws {
    #expect(try OutputPattern("/x.%p", currentDirectory: "/").text == "/x.%p")
    #expect(try OutputPattern("x.%p", currentDirectory: "/").path(processID: 3, programName: "") == "/x.3")
  }

  @Test(
    "Ambiguous patterns are refused",
    arguments: [
      "", "dir/", "%q", "trace%", "%p/x.trace", "%n/x.trace", "..", "dir/.",
    ])
  func refused(text: String) {
    #expect(throws: RecordingError.self) { try OutputPattern(text, currentDirectory: "/tmp") }
  }

  @Test("An old trace is replaced, and any other file is kept") func overwriting() throws {
    let directory = try TemporaryDirectory()
    var writer = TraceWriter()
    try writer.append(TraceClosing())
    try Data(writer.bytes).write(to: URL(fileURLWithPath: directory.path + "/old.trace"))
    try OutputPattern("old.trace", currentDirectory: directory.path).prepare(programNames: ["x"])
    #expect(try directory.fileNames() == [])
    // An empty file is replaced: a recording that could write nothing left it.
    _ = try directory.write("", to: "empty.trace")
    try OutputPattern("empty.trace", currentDirectory: directory.path).prepare(programNames: ["x"])
    #expect(try directory.fileNames() == [])

    let path = try directory.write("notes of mine", to: "precious")
    #expect(throws: RecordingError.outputIsNotATrace(path: path)) {
      try OutputPattern("precious", currentDirectory: directory.path).prepare(programNames: ["x"])
    }
    #expect(throws: RecordingError.outputIsNotATrace(path: path)) {
      try OutputPattern("prec%ns", currentDirectory: directory.path).prepare(programNames: ["sh", "iou"])
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "notes of mine")
  }

  @Test("A second recording to a file is refused while the first continues") func reservation() throws {
    let directory = try TemporaryDirectory()
    let pattern = try OutputPattern("one.%n.trace", currentDirectory: directory.path)
    let first = try pattern.prepare(programNames: ["sh", "app"])
    #expect(throws: RecordingError.outputInUse(path: directory.path + "/one.app.trace")) {
      try pattern.prepare(programNames: ["app"])
    }
    // The directory is recognised under any of its paths.
    let same = try OutputPattern("one.app.trace", currentDirectory: directory.path + "/.")
    #expect(throws: RecordingError.self) { try same.prepare(programNames: ["x"]) }
    // A refused pattern reserves no name.
    #expect(throws: RecordingError.self) { try pattern.prepare(programNames: ["aaa", "sh"]) }
    try pattern.prepare(programNames: ["aaa", "other"])
    withExtendedLifetime(first) {}
  }

  @Test("A later recording may reuse an output file") func reservationEnds() throws {
    let directory = try TemporaryDirectory()
    let pattern = try OutputPattern("one.trace", currentDirectory: directory.path)
    for _ in 0..<3 { try pattern.prepare(programNames: ["app"]) }
  }

  @Test("A missing output directory, or a file in its place, is refused") func directories() throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("", to: "file")
    #expect(throws: RecordingError.outputDirectoryUnusable(path: directory.path + "/missing", errno: ENOENT)) {
      try OutputPattern("missing/x.%p", currentDirectory: directory.path).prepare(programNames: [])
    }
    #expect(throws: RecordingError.outputDirectoryUnusable(path: file, errno: ENOTDIR)) {
      try OutputPattern("file/x.%p", currentDirectory: directory.path).prepare(programNames: [])
    }
  }
}
