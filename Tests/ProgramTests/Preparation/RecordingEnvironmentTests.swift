// The preloaded library's settings, and its location.

import Foundation
import Testing
import TraceReading
import TraceRecording

struct RecordingEnvironmentTests {
  private func environment(_ settings: (inout RecordingSettings) -> Void = { _ in }) throws -> RecordingEnvironment {
    var chosen = RecordingSettings(output: try OutputPattern("/t/%p.trace", currentDirectory: "/"))
    settings(&chosen)
    let directory = try TemporaryDirectory()
    let library = directory.path + "/libleaktrace.so"
    try FileManager.default.copyItem(
      atPath: try TestProgram("plugin.c", flags: ["-shared", "-fPIC"]).path(), toPath: library)
    return RecordingEnvironment(
      settings: chosen, library: try PreloadLibrary.find(in: [library]), sessionID: 0xABC, messagesPath: "/m")
  }

  private func text(_ environment: RecordingEnvironment, _ inherited: [String]) -> [String] {
    environment.entries(inherited: inherited.map { Array($0.utf8) }).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("Each option sets its variable") func variables() throws {
    let plain = try environment().variables.map { "\($0)=\($1)" }
    #expect(
      plain == [
        "LEAKTRACE_OUTPUT=/t/%p.trace", "LEAKTRACE_FOLLOW=0", "LEAKTRACE_ARC=stacks", "LEAKTRACE_SESSION=abc",
        "LEAKTRACE_MESSAGES=/m",
      ])
    let chosen = try environment {
      $0.children = .followed
      $0.retains = .counts
      $0.stackDepthLimit = 7
      $0.start = .paused
      $0.stackChecking = .everyStack
    }
    #expect(
      Set(chosen.variables.map { "\($0)=\($1)" }).isSuperset(of: [
        "LEAKTRACE_FOLLOW=1", "LEAKTRACE_ARC=counts", "LEAKTRACE_DEPTH=7", "LEAKTRACE_PAUSED=1",
        "LEAKTRACE_VERIFY_STACKS=1",
      ]))
    let images = RecordingSettings.DueImages(interval: 60, residentBytes: 5, keptCount: 9)
    let sampling = RecordingSettings.Sampling(period: 7, first: 5, images: images, profileInterval: 9)
    let common = [
      "LEAKTRACE_SAMPLE=7", "LEAKTRACE_SAMPLE_FIRST=5", "LEAKTRACE_PROFILE_SECONDS=9", "LEAKTRACE_SNAPSHOT_SECONDS=60",
      "LEAKTRACE_SNAPSHOT_BYTES=5", "LEAKTRACE_KEEP_IMAGES=9",
    ]
    let light = try environment { $0.mode = .light(sampling) }.variables.map { "\($0)=\($1)" }
    #expect(light == plain + ["LEAKTRACE_MODE=light"] + common)
    let limited = try environment { $0.mode = .limited(traceBytes: 3, sampling) }.variables.map { "\($0)=\($1)" }
    #expect(limited == plain + ["LEAKTRACE_LIMIT=3"] + common)
  }

  @Test("The inherited environment keeps its order and bytes") func inherited() throws {
    let environment = try environment()
    let odd: [UInt8] = Array("ODD=".utf8) + [0xFF, 0x80, 0x3D]
    let entries = environment.entries(inherited: [Array("B=2".utf8), odd, Array("A=1".utf8), Array("novalue".utf8)])
    #expect(Array(entries[..<4]) == [Array("B=2".utf8), odd, Array("A=1".utf8), Array("novalue".utf8)])
    #expect(entries.contains(Array("LD_PRELOAD=\(environment.library.path)".utf8)))
  }

  @Test("An existing LD_PRELOAD follows the library") func preload() throws {
    let environment = try environment()
    let own = environment.library.path
    let entries = text(environment, ["A=1", "LD_PRELOAD=/x.so /y.so::\(own)", "B=2"])
    #expect(Array(entries[..<3]) == ["A=1", "LD_PRELOAD=\(own):/x.so:/y.so", "B=2"])
    #expect(text(environment, ["LD_PRELOAD="])[0] == "LD_PRELOAD=\(own)")
  }

  @Test("A surrounding recording's variables are replaced") func surrounding() throws {
    let entries = text(
      try environment(), ["LEAKTRACE_DEPTH=3", "LEAKTRACE_PAUSED=1", "LEAKTRACE_FOLLOW=1", "LEAK=kept"])
    #expect(entries[0] == "LEAK=kept")
    #expect(entries.filter { $0.hasPrefix("LEAKTRACE_FOLLOW=") } == ["LEAKTRACE_FOLLOW=0"])
    #expect(!entries.contains { $0.hasPrefix("LEAKTRACE_DEPTH=") || $0.hasPrefix("LEAKTRACE_PAUSED=") })
  }

  @Test("The library is found beside the command or in lib, or only at the given path") func candidates() {
    #expect(
      PreloadLibrary.candidates(override: nil, executablePath: "/opt/bin/leaktrace") == [
        "/opt/bin/libleaktrace.so", "/opt/bin/../lib/libleaktrace.so", "/opt/bin/../lib/leaktrace/libleaktrace.so",
      ])
    #expect(PreloadLibrary.candidates(override: "/x.so", executablePath: "/opt/bin/leaktrace") == ["/x.so"])
    #expect(throws: RecordingError.libraryNotFound(searched: ["/no.so"])) { try PreloadLibrary.find(in: ["/no.so"]) }
  }

  @Test("A library that the loader cannot use is refused") func unusable() throws {
    let directory = try TemporaryDirectory()
    let library = try TestProgram("plugin.c", flags: ["-shared", "-fPIC"]).path()
    let spaced = directory.path + "/a b.so"
    try FileManager.default.copyItem(atPath: library, toPath: spaced)
    let text = try directory.write("not a library", to: "text.so")
    for path in [spaced, text] {
      #expect {
        try PreloadLibrary.find(in: [path])
      } throws: { error in
        guard case RecordingError.libraryUnusable(path, _) = error else { return false }
        return true
      }
    }
  }
}
