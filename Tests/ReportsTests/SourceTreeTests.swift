import Foundation
import Testing

@testable import LeakDetection
@testable import TraceReports

@Suite struct SourceTreeTests {
  private func place(_ finding: Finding) -> String? {
    SourceTree.example.place(of: finding).map { "\($0.path):\($0.line)" }
  }

  // MARK: Which line

  @Test func capturingClosureIsMarkedBeforeAllocations() {
    #expect(place(ExampleFindings.cycle()) == "Sources/App/ViewModel.swift:12")
  }

  @Test func closureWithSelfAsItsContextIsMarked() {
    let closure = ExampleFindings.frame("closure #1 in f()", "/src/Sources/App/Server.swift", 6)
    let object = ExampleFindings.step(
      "A", allocation: ExampleFindings.frame("main", "/src/Sources/App/main.swift", 2),
      reference: ExampleFindings.reference("handler", closure: closure, capturesSelf: true))
    #expect(place(ExampleFindings.finding(.unreachable(.cycle, way: nil), [object])) == "Sources/App/Server.swift:6")
  }

  @Test func taskIsMarkedAtItsAwait() {
    let task = ExampleFindings.step(
      "Task", .task, function: ExampleFindings.frame("wait()", "/src/Sources/App/Net.swift", 9),
      allocation: ExampleFindings.frame("main", "/src/Sources/App/main.swift", 2))
    let waiting = ExampleFindings.finding(.unreachable(.suspended(.alone(nil)), way: nil), [task])
    #expect(place(waiting) == "Sources/App/Net.swift:9")
  }

  @Test func survivorIsMarkedInsteadOfItsHolder() {
    #expect(place(ExampleFindings.outlived()) == "Sources/App/Server.swift:20")
  }

  @Test func sharedClosureIsNotMarked() {
    var finding = ExampleFindings.outlived()
    let other = ExampleFindings.frame("closure #1 in Other.start()", "/src/Sources/App/ViewModel.swift", 5)
    finding.path.insert(
      ExampleFindings.step(
        "closure", .closure, function: other, reference: ExampleFindings.reference("self", capture: true)), at: 0)
    var survivors = ExampleFindings.survivors()
    survivors.retention.suspect = 2
    finding.evidence = .suspected(.init(kind: .outlived, figures: nil), survivors)
    #expect(place(finding) == "Sources/App/Server.swift:20")
    // Without a better place, this one is used.
    finding.path[1].allocation = nil
    finding.path[2].allocation = nil
    #expect(place(finding) == "Sources/App/ViewModel.swift:5")
  }

  @Test func registeredObjectIsMarkedAtItsRegistration() {
    var finding = ExampleFindings.outlived()
    finding.path[0].allocation = ExampleFindings.frame("start()", "/src/Sources/App/ViewModel.swift", 18)
    var survivors = ExampleFindings.survivors()
    survivors.retention.registration = .timer
    finding.evidence = .suspected(.init(kind: .outlived, figures: nil), survivors)
    #expect(place(finding) == "Sources/App/ViewModel.swift:18")
  }

  @Test func useOfAFreedObjectIsMarked() {
    #expect(place(ExampleFindings.usedAfterEnd()) == "Sources/App/Net.swift:15")
    var dangling = ExampleFindings.usedAfterEnd()
    var ending = ExampleFindings.ending()
    ending.used = nil
    dangling.evidence = .dangling(ending)
    dangling.path[0].allocation = nil
    #expect(place(dangling) == "Sources/App/Net.swift:8")
  }

  @Test func framesWithoutALineInTheTreeAreSkipped() {
    var finding = ExampleFindings.cycle()
    finding.path[1].function?.line = 41
    #expect(place(finding) == "Sources/App/main.swift:3")
    finding.path[0].allocation?.line = nil
    #expect(place(finding) == "Sources/App/ViewModel.swift:11")
    finding.path[1].allocation?.kind = .systemLibrary
    #expect(place(finding) == nil)
    #expect(place(ExampleFindings.lost()) == nil)
  }

  @Test func placesOfAFindingAreNotedOnce() {
    let notes = SourceTree.example.notes(on: [ExampleFindings.cycle(), ExampleFindings.cycle()])
    #expect(notes[0] == notes[1])
    #expect(
      notes[0].map(\.text) == [
        "closure #1 in ViewModel.start() captures self", "ViewModel is allocated in main",
        "closure is allocated in ViewModel.start()",
      ])
  }

  // MARK: Which files

  @Test(arguments: [
    ("/src/Sources/App/main.swift", 1, "Sources/App/main.swift:1"),
    ("/src/Sources/App/main.swift", 30, "Sources/App/main.swift:30"),
    ("/src/Sources/App/main.swift", 31, nil), ("/src/Sources/App/main.swift", 0, nil),
    ("/src/Sources/App/main.swift", -1, nil),
    ("Sources/App/main.swift", 2, "Sources/App/main.swift:2"),
    ("/src/Sources/../Sources/./App/main.swift", 2, "Sources/App/main.swift:2"),
    ("/src/../other/Sources/App/Fill.swift", 2, nil), ("../other/Sources/App/Fill.swift", 2, nil),
    ("/other/Sources/App/Fill.swift", 2, nil),
    ("/src/Sources/App/Gone.swift", 2, nil), ("/src/Sources/App", 1, nil), ("/src", 1, nil), ("", 1, nil),
    ("<compiler-generated>", 1, nil),
    // This is a file of a dependency that the package manager fetched.
    ("/src/.build/checkouts/nio/Channel.swift", 5, nil),
  ])
  func filesInTheTreeHaveAPlace(file: String, line: Int, expected: String?) {
    #expect(SourceTree.example.place(file: file, line: line).map { "\($0.path):\($0.line)" } == expected)
  }

  @Test func rootAndFilesMayBeSymbolicLinks() {
    var sources = TableSources.example
    sources.links = ["/home/me/src": "/src", "/src/vendored": "/other"]
    let tree = SourceTree(root: "/home/me/src/", access: sources)
    #expect(tree.root == "/src")
    #expect(tree.place(file: "/home/me/src/Sources/App/main.swift", line: 3)?.path == "Sources/App/main.swift")
    #expect(tree.place(file: "/src/vendored/Sources/App/Fill.swift", line: 3) == nil)
    #expect(SourceTree(root: "/nowhere", access: sources).place(file: "/src/Sources/App/main.swift", line: 3) == nil)
    #expect(
      SourceTree(root: "/", access: sources).place(file: "/src/Sources/App/main.swift", line: 3)?.path
        == "src/Sources/App/main.swift")
  }

  // MARK: This machine's files

  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sources-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder + "/root/deep", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
  }

  @Test(arguments: [
    ("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n\n", 3), (String(repeating: "line\r\n", count: 30_000), 30_000),
  ])
  func linesAreCountedAsInEditors(text: String, expected: Int) throws {
    try withFolder { folder in
      try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/root/a.swift"))
      #expect(LocalSources().lineCount(ofFile: folder + "/root/a.swift") == expected)
    }
  }

  @Test func localFilesAreFoundThroughLinksInsideTheTreeOnly() throws {
    try withFolder { folder in
      try Data("1\n2\n".utf8).write(to: URL(fileURLWithPath: folder + "/root/deep/a.swift"))
      try Data("1\n2\n".utf8).write(to: URL(fileURLWithPath: folder + "/outside.swift"))
      try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: folder + "/root")
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/root/out.swift", withDestinationPath: folder + "/outside.swift")
      try FileManager.default.createSymbolicLink(atPath: folder + "/root/loop.swift", withDestinationPath: "loop.swift")
      for root in ["\(folder)/root", "\(folder)/link", "\(folder)/link/../root/deep/.."] {
        let tree = SourceTree(root: root)
        for file in [
          "\(folder)/root/deep/a.swift", "\(folder)/link/deep/a.swift", "deep/a.swift",
          "\(folder)/link/deep/../deep/a.swift",
        ] {
          #expect(tree.place(file: file, line: 2) == SourcePlace(path: "deep/a.swift", line: 2), "\(root) \(file)")
        }
        for file in [
          "\(folder)/outside.swift", "out.swift", "../outside.swift", "loop.swift", "deep", "gone.swift",
          "deep/a.swift\0x", "deep/a.swift/x",
        ] {
          #expect(tree.place(file: file, line: 1) == nil, "\(root) \(file)")
        }
        #expect(tree.place(file: "deep/a.swift", line: 3) == nil)
      }
    }
  }

  @Test func pipesAndHugeFilesAreNotRead() throws {
    try withFolder { folder in
      #expect(mkfifo(folder + "/pipe.swift", 0o600) == 0)
      #expect(LocalSources().lineCount(ofFile: folder + "/pipe.swift") == nil)
      #expect(LocalSources().lineCount(ofFile: "/dev/zero") == nil)
      #expect(LocalSources().lineCount(ofFile: folder) == nil)
      // The file is sparse, so it takes no space on disk.
      #expect(FileManager.default.createFile(atPath: folder + "/huge.swift", contents: nil))
      #expect(truncate(folder + "/huge.swift", 1 << 40) == 0)
      #expect(LocalSources().lineCount(ofFile: folder + "/huge.swift") == nil)
    }
  }
}
