import Foundation
import Testing

import TextWriting
@testable import TraceExports
@testable import TraceReading

/// Collapsed stacks, and speedscope's documents.
struct StackTextTests {
  @Test func lineIsAStackFromTheOutermostFrame() throws {
    let profile = try ExportFixture().profile()
    #expect(
      CollapsedStacks.text(profile, .liveBytes) == """
        main;fill(_:);Image.init();App.Image 600
        main;other.so+0x10;malloc 16

        """)
    #expect(CollapsedStacks.text(profile, .temporaryBlocks) == "main;other.so+0x10;malloc 1\n")
    #expect(CollapsedStacks.text(profile, .leakedBytes) == "")
  }

  @Test func equalStacksAreJoined() throws {
    var fixture = try ExportFixture()
    // This is another call in the same function.
    fixture.naming.add(0x40_0012, "main", file: "/src/main.swift", line: 4)
    fixture.trace.event(
      .malloc, 0x50_0000, size: 100, stack: fixture.trace.stack([0x40_0012, 0x70_0010]), time: 300)
    #expect(try CollapsedStacks.text(fixture.profile(), .liveBytes).contains("main;other.so+0x10;malloc 116\n"))
  }

  @Test func namesCannotSeparateFramesOrLines() throws {
    let text = try CollapsedStacks.text(ExportFixture(imageType: "A;B\n\u{1B}[31m\u{202E}C 7").profile(), .liveBytes)
    #expect(text.hasPrefix("main;fill(_:);Image.init();A,B\\u{a}\\u{1b}[31m\\u{202e}C 7 600\n"))
  }

  private struct Document: Decodable {
    struct Frame: Decodable {
      var name: String
      var file: String?
    }
    struct Shared: Decodable { var frames: [Frame] }
    struct Profile: Decodable {
      var type: String
      var name: String
      var unit: String
      var startValue: UInt64
      var endValue: UInt64
      var samples: [[Int]]
      var weights: [UInt64]
    }
    var name: String
    var exporter: String
    var shared: Shared
    var profiles: [Profile]

    init(_ profile: StackProfile, _ measures: [ProfileMeasure]) throws {
      let text = SpeedscopeProfile.text(profile, measures, exporter: "leaktrace \"1\"")
      self = try JSONDecoder().decode(Document.self, from: Data(text.utf8))
    }
  }

  @Test func speedscopeGetsAProfileForEachFigure() throws {
    let profile = try ExportFixture().profile(leaked: [:])
    let document = try Document(profile, profile.measures)
    #expect(document.name == "app" && document.exporter == "leaktrace \"1\"")
    // The profile has nothing that leaked, and references were not counted.
    #expect(!document.profiles.contains { $0.name.hasPrefix("leaked") })
    let live = try #require(document.profiles.first { $0.name == "live at exit, bytes" })
    #expect(live.type == "sampled" && live.unit == "bytes" && live.startValue == 0 && live.endValue == 616)
    #expect(live.weights == [600, 16] || live.weights == [16, 600])
    let stacks = live.samples.map { $0.map { document.shared.frames[$0].name }.joined(separator: " ") }
    #expect(Set(stacks) == ["main fill(_:) Image.init() App.Image", "main other.so+0x10 malloc"])
    #expect(document.shared.frames.contains { $0.name == "Image.init()" && $0.file == "/src/Image.swift" })
  }

  @Test func speedscopesNamesAreEscaped() throws {
    let name = "A\"\\\n</script>\u{2028}é"
    let document = try Document(ExportFixture(imageType: name).profile(), [.liveBytes])
    #expect(document.shared.frames.contains { $0.name == PlainText.escaped(name) })
  }
}
