import LeakDetection
import Testing
import TraceTestSupport

@Suite struct SuppressionsTests {
  @Test(arguments: [
    // By default, a pattern matches anywhere in a name.
    ("Cache", "MyApp.ImageCache", true), ("Cache", "Cache", true), ("Cache", "MyApp.cache", false),
    ("CacheX", "Cache", false),
    // Anchors.
    ("^MyApp", "MyApp.ImageCache", true), ("^ImageCache", "MyApp.ImageCache", false),
    ("Cache$", "MyApp.ImageCache", true),
    ("Image$", "MyApp.ImageCache", false), ("^Node$", "Node", true), ("^Node$", "NodeNode", false),
    ("^Node$", "Nod", false),
    // An anchor at the end needs a match at the end: the last occurrence counts, not the first.
    ("Node$", "NodeNode", true), ("No*de$", "Nodes of Node", true),
    // Stars.
    ("My*Cache", "a MyApp.ImageCache", true), ("^My*Cache$", "MyApp.ImageCache", true),
    ("^My*Cache$", "MyApp.ImageCache2", false),
    ("^App*", "MyApp", false), ("^*App", "MyApp", true), ("App*$", "MyApp2", true), ("*", "x", true),
    ("^*$", "x", true),
    ("a*b*c", "a-c-b-c", true), ("a*b*c", "a-c-b", false), ("^ab*ba$", "aba", false), ("^ab*ba$", "abba", true),
    ("a**b", "ab", true),
    // A dollar of a mangled name or a caret matches itself if it is not an anchor.
    ("$s4main", "$s4main3FooC", true), ("^$s4main", "$s4main3FooC", true), ("^$s4main", "x$s4main", false),
    ("a^b", "xa^by", true),
    // Characters of more than one byte.
    ("Größe", "MyApp.Größe", true), ("^Grö*e$", "Größe", true),
    // Nothing to match.
    ("*", "", false), ("^$", "", false), ("^", "x", true), ("$", "x", true),
  ])
  func patternsMatchNames(pattern: String, name: String, expected: Bool) {
    #expect(SuppressionPattern(pattern).matches(name) == expected, "\(pattern) on \(name)")
  }

  /// Tries every way to split a name among the characters of a pattern.
  private func slowlyMatches(_ pattern: [Character], _ name: [Character]) -> Bool {
    guard let first = pattern.first else { return name.isEmpty }
    if first == "*" { return (0...name.count).contains { slowlyMatches(Array(pattern[1...]), Array(name[$0...])) } }
    return name.first == first && slowlyMatches(Array(pattern[1...]), Array(name[1...]))
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func matchingAgreesWithAnOracle(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for _ in 0..<200 {
      let body = (0..<1 + random.next() % 6).map { _ in Character(["a", "b", "*"][Int(random.next() % 3)]) }
      let name = (0..<1 + random.next() % 8).map { _ in Character(random.oneIn(2) ? "a" : "b") }
      let (begins, ends) = (random.oneIn(2), random.oneIn(2))
      let pattern = (begins ? "^" : "") + String(body) + (ends ? "$" : "")
      let expected = slowlyMatches((begins ? [] : ["*"]) + body + (ends ? [] : ["*"]), name)
      #expect(SuppressionPattern(pattern).matches(String(name)) == expected, "\(pattern) on \(String(name))")
    }
  }

  @Test func commentsAndBlankLinesAndWhitespaceAreSkipped() throws {
    let text = "# known\n\n  leak:One\t \n\t# leak:NotThis\n   \nleak:Two # three\nleak:a:b"
    let entries = try Suppressions(parsing: text, file: "x.supp").entries
    #expect(entries.map(\.pattern.text) == ["One", "Two # three", "a:b"])
    #expect(entries.map(\.line) == [3, 6, 7])
    #expect(entries.allSatisfy { $0.file == "x.supp" })
  }

  @Test func windowsLineEndingsAreAccepted() throws {
    let entries = try Suppressions(parsing: "\u{FEFF}# a\r\nleak:One$\r\n\r\nleak:Two\r\n", file: "x").entries
    #expect(entries.map(\.pattern.text) == ["One$", "Two"] && entries.map(\.line) == [2, 4])
    #expect(entries[0].pattern.matches("NumberOne"))
  }

  @Test(arguments: [
    ("leak:a\nrace:foo\n", "x.supp:2: unknown kind of suppression 'race'; only 'leak:PATTERN' is supported"),
    ("# a\r\n\r\nLeak:a", "x.supp:3: unknown kind of suppression 'Leak'; only 'leak:PATTERN' is supported"),
    ("Foo.bar()", "x.supp:1: 'Foo.bar()' is not a suppression; write 'leak:Foo.bar()'"),
    ("\nleak:  \n", "x.supp:2: no pattern after 'leak:'; to hide every finding, write 'leak:*'"),
    ("leak:^", "x.supp:1: no pattern after 'leak:'; to hide every finding, write 'leak:*'"),
    (":a", "x.supp:1: unknown kind of suppression ''; only 'leak:PATTERN' is supported"),
  ])
  func malformedSuppressionIsAnErrorWithItsLine(text: String, message: String) {
    let error = #expect(throws: SuppressionSyntaxError.self) { try Suppressions(parsing: text, file: "x.supp") }
    #expect(error?.description == message)
  }

  @Test func firstPatternThatMatchesAnyNameIsCounted() throws {
    var suppressions = try Suppressions(
      parsing: "leak:libcrypto.so\nleak:^App.Cache$\nleak:Cache\nleak:Typo\n", file: "a")
    #expect(suppressions.match(["App.Cache", "main", "/usr/lib/libcrypto.so.3"], objects: 2, bytes: 96) == 0)
    #expect(suppressions.match(["App.Cache", "main"], objects: 3, bytes: 10) == 1)
    #expect(suppressions.match(["App.CacheEntry"]) == 2)
    #expect(suppressions.match(["App.Cache"], objects: 1, bytes: .max) == 1)
    #expect(suppressions.match(["App.Model", "main", ""]) == nil)
    #expect(suppressions.match([]) == nil)
    #expect(suppressions.entries.map(\.findings) == [1, 2, 1, 0])
    #expect(suppressions.entries.map(\.objects) == [2, 4, 1, 0])
    #expect(suppressions.entries.map(\.bytes) == [96, .max, 0, 0])
    #expect(suppressions.used.map(\.pattern.text) == ["libcrypto.so", "^App.Cache$", "Cache"])
    #expect(suppressions.unused.map(\.pattern.text) == ["Typo"] && suppressions.unused[0].line == 4)
  }

  @Test func filesApplyInTheOrderTheyWereAdded() throws {
    var suppressions = Suppressions()
    #expect(suppressions.match(["x"]) == nil)
    suppressions.append(contentsOf: try Suppressions(parsing: "leak:x", file: "a"))
    suppressions.append(contentsOf: try Suppressions(parsing: "leak:y\nleak:x", file: "b"))
    #expect(suppressions.match(["x"]) == 0 && suppressions.match(["y"]) == 1)
    #expect(suppressions.unused.map { "\($0.file):\($0.line)" } == ["b:2"])
  }
}
