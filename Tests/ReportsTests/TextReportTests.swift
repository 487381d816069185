import Testing
import TextWriting
import TraceTestSupport

@testable import AllocationReports
@testable import TraceReading
@testable import TraceReports

@Suite struct TextReportTests {
  @Test func reportHasTheExpectedText() throws {
    let text = AllocationText().text(try ReportFixture().report())
    #expect(
      text == """
        /bin/app (pid 42), 2.50 s
          2,203 events: 1,102 allocations, 1,001 frees, 100 retains, 0 releases
          at exit: 19.6 KiB live in 102 blocks, 5.00 MiB resident
          at the peak (after 0.00 s): 3.02 MiB live in 103 blocks, 8.00 MiB resident
          note: 1 orphan free (of blocks never seen allocated)
          warning: the colour of the bike shed is not known

        Allocation sites by live bytes at exit: 3 of 4

        #1 App.Image  19.5 KiB live in 100 blocks
            at the program's peak 19.5 KiB in 100 · allocated 19.5 KiB in 100 ·
              temporary 0 · retains 100, releases 0
            Image.init()  Image.swift:7
              Image.__allocating_init()  Image.swift:5
              Cache.fill(_:)  Cache.swift:20
              … 1 runtime frame
              main  main.swift:3

        #2 malloc  65 B live in 1 block
            at the program's peak 65 B in 1 · allocated 63.0 KiB in 1,000 · temporary
              999
            Cache.fill(_:)  Cache.swift:20
              through Array.append(_:)  … 2 runtime frames
              main  main.swift:3

        #3 closure context or box  48 B live in 1 block
            at the program's peak 48 B in 1 · allocated 48 B in 1 · temporary 0
            app+0x50000
              walk(_:) (1,500 times)  Walk.swift:9
              main  main.swift:3

        1 more site with nothing to show in this order


        """)
  }

  @Test func packageFramesAreDimmedOnATerminal() throws {
    var fixture = try ReportFixture()
    fixture.naming.add(
      0x40_0050, "encode(_:)", file: "/src/.build/checkouts/walker/Sources/Walker/Encode.swift", line: 4)
    let report = try fixture.report()
    #expect(
      AllocationText(style: TextStyle(width: 120, emphasis: .terminal)).text(report).contains("\u{1B}[2mencode(_:)"))
    #expect(!AllocationText(style: TextStyle(width: 120)).text(report).contains("\u{1B}"))
  }

  @Test func fullStacksShowEveryFrameWithItsFullName() throws {
    let report = try ReportFixture().report { $0.limit = 1 }
    let text = AllocationText(style: TextStyle(width: 120, stacks: .full)).text(report)
    #expect(
      text.contains(
        """
            Image.init() [inlined]  /src/Image.swift:7
            Image.__allocating_init()  /src/Image.swift:5
            App.Cache.fill(Swift.Int) -> ()  /src/Cache.swift:20
            reabstraction thunk  in app
            main  /src/main.swift:3

        """))
  }

  @Test(arguments: [40, 60, 80, 200])
  func linesFitTheWidthAndKeepTheirText(width: Int) throws {
    var fixture = try ReportFixture()
    let long =
      "extension<A where A: Sequence>(" + String(repeating: "Some.Very.Long<Generic, Name>, ", count: 12) + "end)"
    fixture.naming.frames[0x40_0030]![0].function = long
    for order in ReportSelection.Order.allCases {
      let text = AllocationText(style: TextStyle(width: width)).text(try fixture.report { $0.order = order })
      for line in text.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
      let squeezed = text.filter { !$0.isWhitespace }
      if order != .temporary { #expect(squeezed.contains(long.filter { !$0.isWhitespace })) }
    }
  }

  @Test func escapeSequencesAppearOnlyOnTerminals() throws {
    let report = try ReportFixture().report()
    #expect(!AllocationText().text(report).contains("\u{1B}"))
    #expect(
      AllocationText(style: TextStyle(emphasis: .terminal)).text(report).contains("\u{1B}[1m#1 App.Image\u{1B}[0m"))
  }

  @Test func namesFromTheTraceCannotControlATerminal() throws {
    var fixture = try ReportFixture()
    fixture.naming.frames[0x40_0030]![0].function = "evil\u{1B}]0;title\u{7}"
    fixture.trace.definitions.append(.warning("red\u{1B}[31m"))
    fixture.trace.definitions.append(.process(ProcessRecord(executable: "/bin/\u{1B}[2J", flags: 0)))
    let text = AllocationText(style: TextStyle(width: 100)).text(try fixture.report())
    #expect(!text.contains("\u{1B}") && !text.contains("\u{7}"))
    #expect(text.contains("evil\\u{1b}]0;title\\u{7}") && text.contains("/bin/\\u{1b}[2J"))
  }

  /// The parent in `daemon` ends by a call within the C library, with status 0 and without a signal.
  @Test(
    arguments: [
      (0, "the process ended with status 0"), (9, "the process was killed by signal 9"),
      (-1, "the process ended without closing its trace, or was killed"),
    ] as [(Int32, String)])
  func exitOfAProcessWithoutAClosedTraceIsReported(waitStatus: Int32, words: String) throws {
    var fixture = try ReportFixture()
    fixture.trace.closing?.reason = .recovered
    fixture.trace.closing?.waitStatus = waitStatus
    let text = AllocationText(style: TextStyle(width: 200)).text(try fixture.report())
    #expect(text.contains("note: \(words); leaktrace closed its trace\n"))
  }

  @Test func damageAndLossesAreReported() throws {
    var fixture = try ReportFixture()
    fixture.trace.closing?.drops.counts[0] = 3
    fixture.trace.closing?.drops.counts[3] = 1
    fixture.trace.closing?.untracedChildren = 2
    fixture.trace.header.referenceCounting = .off
    let text = AllocationText(style: TextStyle(width: 200)).text(try fixture.report())
    #expect(text.contains("note: missing: calls made inside a hook (by a signal handler): 3\n"))
    #expect(text.contains("note: stacks cut at the depth limit: 1\n"))
    #expect(text.contains("note: 2 child processes were not traced\n"))
    #expect(text.contains("note: retains and releases were not recorded\n"))
    fixture.trace.closing = nil
    let open = AllocationText(style: TextStyle(width: 200)).text(try fixture.report())
    #expect(
      !open.contains("at exit") && open.contains("at the end of the trace: ")
        && open.contains("Allocation sites by live bytes at the end of the trace"))
    #expect(open.contains("note: the trace is still open: the process is running, or ended without closing it\n"))
  }
}
