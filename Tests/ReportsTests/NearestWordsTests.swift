import Testing

import TextWriting
@testable import TraceReading

@Suite struct NearestWordsTests {
  private let commands = ["record", "check", "analyze", "report", "why", "watch", "diff", "digest", "ps", "snapshot"]

  @Test(arguments: [
    ("analyse", ["analyze"]), ("anaylze", ["analyze"]), ("analize", ["analyze"]), ("anlyze", ["analyze"]),
    ("ANALYZE", ["analyze"]), ("recrod", ["record"]), ("reprot", ["report"]), ("chek", ["check"]), ("dif", ["diff"]),
    ("snapshots", ["snapshot"]), ("wach", ["watch"]), ("pss", ["ps"]), ("sp", ["ps"]),
  ])
  func typingErrorIsNear(word: String, expected: [String]) {
    #expect(NearestWords.nearest(to: word, among: commands) == expected)
  }

  @Test(arguments: ["", "x", "valgrind", "leaks", "run", "analysis", "réseau", "日本語"])
  func unrelatedWordsAreNotNear(word: String) {
    #expect(NearestWords.nearest(to: word, among: commands) == [])
  }

  @Test func prefixIsNearFromThreeLetters() {
    #expect(NearestWords.nearest(to: "ana", among: commands) == ["analyze"])
    #expect(NearestWords.nearest(to: "snap", among: commands) == ["snapshot"])
    #expect(NearestWords.nearest(to: "an", among: commands) == [])
  }

  @Test func nearestWordsComeFirstInStableOrder() {
    let names = ["SessionManagers", "SessionMonitor", "SessionManager", "SesionManagr", "Sessionmanager"]
    #expect(
      NearestWords.nearest(to: "SesionManager", among: names, limit: 9) == [
        "SessionManager", "SesionManagr", "Sessionmanager", "SessionManagers",
      ])
    #expect(NearestWords.nearest(to: "SesionManager", among: names, limit: 1) == ["SessionManager"])
    #expect(NearestWords.nearest(to: "a", among: ["b", "a", "b", "a"]) == ["a", "b"])
  }

  @Test func qualifiedNamesAreAsNearAsTheirLastPart() {
    let names = ["App.Cache<Swift.String, Swift.Int>", "App.Outer.Inner", "Cache.fill(_:at:)", "Box<Cache>", "main"]
    #expect(NearestWords.nearest(to: "Cachee", among: names) == ["App.Cache<Swift.String, Swift.Int>"])
    #expect(NearestWords.nearest(to: "Iner", among: names) == ["App.Outer.Inner"])
    #expect(NearestWords.nearest(to: "fil", among: names) == ["Cache.fill(_:at:)"])
    #expect(NearestWords.nearest(to: "Cache.fiil", among: names) == ["Cache.fill(_:at:)"])
    #expect(NearestWords.nearest(to: "app.outer.iner", among: names) == ["App.Outer.Inner"])
    #expect(NearestWords.nearest(to: "pull", among: ["Box<(A) -> B.C>.pul()"]) == ["Box<(A) -> B.C>.pul()"])
  }

  @Test func questionNamesUpToThreeWords() {
    #expect(NearestWords.question([]) == nil)
    #expect(NearestWords.question(["a"]) == "Did you mean 'a'?")
    #expect(NearestWords.question(["a", "b"]) == "Did you mean 'a' or 'b'?")
    #expect(NearestWords.question(["a", "b", "c"]) == "Did you mean 'a', 'b' or 'c'?")
    #expect(NearestWords.question(["a\u{1B}[2J"]) == "Did you mean 'a\\u{1b}[2J'?")
  }

  /// Compares the distance with one calculated by the definition.
  @Test func distanceMatchesTheDefinition() {
    var seed: UInt64 = 7
    func random(_ bound: Int) -> Int {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(seed >> 33) % bound
    }
    func slips(_ a: ArraySlice<Character>, _ b: ArraySlice<Character>) -> Int {
      guard let x = a.last, let y = b.last else { return max(a.count, b.count) }
      var least = slips(a.dropLast(), b.dropLast()) + (x == y ? 0 : 1)
      least = min(least, slips(a.dropLast(), b) + 1, slips(a, b.dropLast()) + 1)
      if a.count > 1, b.count > 1, x == b.dropLast().last, y == a.dropLast().last {
        least = min(least, slips(a.dropLast(2), b.dropLast(2)) + 1)
      }
      return least
    }
    for _ in 0..<300 {
      let a = String((0..<random(7)).map { _ in "abc".randomElement(at: random(3)) })
      let b = String((0..<(1 + random(6))).map { _ in "abc".randomElement(at: random(3)) })
      let near = slips(Array(a)[...], Array(b)[...]) <= 1 || (a.count > 2 && b.hasPrefix(a))
      #expect((NearestWords.nearest(to: a, among: [b]) == [b]) == (near && !a.isEmpty), "\(a) \(b)")
    }
  }
}

extension String {
  fileprivate func randomElement(at offset: Int) -> Character { self[index(startIndex, offsetBy: offset)] }
}
