// The last release by an owner that gave up an object for good.

import Testing

@testable import LeakDetection
@testable import TraceReading
@testable import TraceSymbolication

@Suite struct LettingGoTests {
  private static let functions = [
    1: ["Session.init()", "Lobby.admit(_:)", "main"], 2: ["closure #1 in Session.listen()"],
    3: ["Lobby.showOut(_:)", "main"], 4: ["Lobby.admit(_:)", "main"], 5: ["Lobby.greetAll()", "main"],
    6: ["Lobby.deinit", "main"],
  ]

  private static func frames(_ stack: StackID) -> [SourceFrame] {
    (functions[Int(stack.rawValue)] ?? []).map { name in
      SourceFrame(
        function: name, fullFunction: name, mangledName: nil, imagePath: "app", file: "/s/Lobby.swift", line: 1,
        column: nil, isInlined: false, kind: .user, isAsync: false, asyncPart: nil)
    }
  }

  /// Finds the release among events. An event is a change of the count, a stack and a time. The first event is the
  /// allocation.
  private func release(_ events: [(change: Int, stack: UInt32, time: UInt64)]) -> LettingGo.Release? {
    let history = events.enumerated().map { index, event in
      HistoryEvent(
        TraceEvent(
          operation: index == 0 ? .object : event.change > 0 ? .retain : .release, stack: StackID(event.stack),
          time: event.time))
    }
    let block = LiveBlock(address: 0x1000, size: 48, birthTime: events[0].time, site: SiteID(0))
    return LettingGo.release(
      BlockHistory(block: block, events: history), functions: { LettingGo.Functions(Self.frames($0)) })
  }

  @Test func releaseByAnotherFunctionEndsAnOwnership() throws {
    let found = try #require(release([(1, 1, 100), (1, 2, 110), (-1, 3, 900)]))
    #expect(found.place.function == "Lobby.showOut(_:)" && found.isElsewhere && !found.isOfEnd)
    #expect(found.time == 900 && found.span == 800)
  }

  @Test func makersOwnReferenceIsNotAnOwner() throws {
    let found = try #require(release([(1, 1, 100), (1, 2, 110), (-1, 4, 120)]))
    #expect(!found.isElsewhere && found.span == 20)
  }

  @Test func useWithinOneFunctionIsNotAnOwner() throws {
    // The lobby and a task hold the visitor to the end. A loop over all visitors retains and releases it.
    let found = release([(1, 1, 100), (1, 2, 110), (1, 5, 300), (-1, 5, 310)])
    #expect(found.map { !$0.isElsewhere && $0.span <= 10 } ?? true)
  }

  @Test func longestOwnershipElsewhereCounts() throws {
    let found = try #require(
      release([(1, 1, 100), (1, 2, 110), (-1, 4, 120), (1, 4, 130), (-1, 3, 700), (1, 2, 710), (-1, 2, 2000)]))
    #expect(found.place.function == "Lobby.showOut(_:)" && found.time == 700)
  }

  @Test func endOfTheOwnerIsReported() throws {
    let found = try #require(release([(1, 1, 100), (1, 2, 110), (-1, 6, 900)]))
    #expect(found.isElsewhere && found.isOfEnd)
  }

  @Test func objectWithoutReferencesHasNoLastRelease() {
    #expect(release([(1, 1, 100), (-1, 3, 900)]) == nil)
  }

  @Test(
    "An owner's time counts in ticks, or in events if a busy machine delays siblings",
    arguments: [
      (span: UInt64(250), work: 0.0, isOwned: true), (249, 0, false), (0, 10, true), (249, 9, false),
    ])
  func owned(span: UInt64, work: Double, isOwned: Bool) {
    let lives = LettingGo.Lives(half: 1000, halfWork: 40, longest: 5000, longestWork: 400)
    #expect(lives.isOwned(for: span, work: work, share: 0.25) == isOwned)
  }

  @Test func minimumOwnershipNeverExceedsTheLongestSiblingLife() {
    // Lifetimes are known only in classes. The bound of a class may be above the longest lifetime.
    let lives = LettingGo.Lives(half: 1000, halfWork: 40, longest: 400, longestWork: 16)
    #expect(lives.isOwned(for: 100, work: 0, share: 0.25) && lives.isOwned(for: 0, work: 4, share: 0.25))
    #expect(!lives.isOwned(for: 99, work: 3.9, share: 0.25))
  }
}
