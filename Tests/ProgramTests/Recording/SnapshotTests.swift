// Heap snapshots are complete, both at the end of a process and on request.

import CTraceFormat
import Foundation
import HeapAnalysis
import TestRequirements
import Testing
import TraceReading
import TraceRecording

/// The address bits of a word. Swift keeps flags in the top byte.
private let addressBits: UInt64 = 0x00FF_FFFF_FFFF_FFFF

@Suite(.requires(.recorder)) struct SnapshotTests {
  /// Checks an image against the lines that test programs print, which give the address of each word.
  static func expectWords(
    _ image: HeapImage, printed: String, except skipped: Set<String> = [],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    var slots = 0
    for line in printed.split(separator: "\n") {
      let fields = line.split(separator: " ", maxSplits: 3).map(String.init)
      let address = fields.count > 1 ? UInt64(fields[1].dropFirst(2), radix: 16) : nil
      switch fields[0] {
      case "slot":
        if skipped.contains(fields[3]) { continue }
        slots += 1
        let value = try #require(UInt64(fields[2].dropFirst(2), radix: 16)), place = try #require(address)
        #expect(image.words[place].map { $0 & addressBits } == value, "\(fields[3])", sourceLocation: sourceLocation)
      case "hole":
        let place = try #require(address)
        #expect(image.words[place] == nil, sourceLocation: sourceLocation)
      default: continue
      }
    }
    #expect(slots >= 10, sourceLocation: sourceLocation)
  }

  static func snapshot(_ arguments: [String], options: [String] = []) throws -> (HeapImage, TracedRun) {
    let run = try TracedRun(arguments, options: options)
    let images = try HeapImage.images(of: try run.onlyTrace().path)
    #expect(images.count == 1)
    return (try #require(images.last), run)
  }

  @Test("A process that ends leaves an image of its memory", arguments: ["return", "exit"]) func wordsAtExit(
    way: String
  ) throws {
    let (image, run) = try Self.snapshot([try TestProgram("snapshot-heap.c").path(), way])
    #expect(run.traced.end == .exit(7))
    #expect(image.isComplete)
    #expect(image.isFrozen)
    #expect(image.header.reason == UInt32(LT_SNAPSHOT_EXIT))
    #expect(image.threads.count == 1 && image.threadsWithRegisters == 1)
    // The variables of `main` no longer exist after it has returned.
    try Self.expectWords(image, printed: run.traced.output, except: way == "return" ? ["stack"] : [])
    let threadLocal = run.traced.output.split(separator: "\n").first { $0.hasSuffix(" thread-local") }
    let address = try #require(threadLocal.flatMap { UInt64($0.split(separator: " ")[1].dropFirst(2), radix: 16) })
    let thread = image.threads[0]
    #expect(address < thread.threadPointer && thread.threadPointer - address <= image.header.staticTLSSize)
    #expect(zip(image.regions, image.regions.dropFirst()).allSatisfy { $0.end <= $1.start })
    #expect(
      image.regions.contains {
        $0.kind == UInt32(LT_REGION_MAIN_STACK) && ($0.start..<$0.end).contains(thread.stackPointer)
      })
    let own = image.regions.filter { $0.kind == UInt32(LT_REGION_RECORDER) }
    #expect(own.count > 3)
    #expect(!image.words.keys.contains { address in own.contains { ($0.start..<$0.end).contains(address) } })
    // Every word outside of records is an address, perhaps with flags in its top byte, or has flags only.
    #expect(image.words.allSatisfy { _, word in word & addressBits < 1 << 47 }, "no Swift in this program")
  }

  @Test(
    "Every way to end leaves exactly one final snapshot",
    arguments: [
      "return", "exit", "atexit", "thread-exit", "main-thread-ends", "_exit", "_Exit", "quick_exit", "exec-fails",
    ])
  func ends(way: String) throws {
    let (image, run) = try Self.snapshot([try TestProgram("endings.c").path(), way, "1000"])
    run.expectSameBehaviour()
    #expect(image.isComplete && image.isFrozen)
    #expect(image.header.reason == UInt32(LT_SNAPSHOT_EXIT))
  }

  @Test("Exit handlers run after the snapshot, and none is lost when plugins are unloaded") func plugins() throws {
    let plugin = try TestProgram("plugin.c", flags: ["-shared", "-fPIC"]).path()
    let (image, run) = try Self.snapshot([try TestProgram("plugin-host.c").path(), plugin, plugin])
    run.expectSameBehaviour()
    #expect(image.isComplete)
  }

  @Test("Recording without snapshots leaves none") func switchedOff() throws {
    let run = try TracedRun([try TestProgram("endings.c").path(), "exit", "1000"], options: ["--no-snapshots"])
    #expect(try HeapImage.images(of: try run.onlyTrace().path).isEmpty)
  }

  @Test("Images include reference counts, the occupancy of collections and complete metadata") func swiftObjects()
    throws
  {
    let (image, run) = try Self.snapshot([try TestProgram("snapshot-objects.swift").path()])
    #expect(image.isComplete)
    var places: [String: UInt64] = [:]
    for line in run.traced.output.split(separator: "\n") {
      let fields = line.split(separator: " ")
      places["\(fields[0]) \(fields[1])"] = UInt64(fields[2].dropFirst(2), radix: 16)
    }
    func word(_ name: String, _ offset: UInt64) throws -> UInt64 {
      image.words[try #require(places[name]) + offset, default: 0]
    }

    let node = try #require(places["metadata node"])
    for object in ["object first", "object second"] { #expect(try word(object, 0) == node) }
    #expect(try word("object first", 16) == places["object second"])
    // A weak reference has been made to the first object, so its counts are in a side table, which also has the
    // object's address. The dictionary holds 150 references to the object, and other code holds some more.
    let mark = try word("object first", 8)
    #expect(mark >> 62 == 3)
    let table = (mark & (1 << 62 - 1)) << 3
    #expect(image.words[table] == places["object first"])
    let strong = try #require(image.words[table + 16]) >> 33 & 0x3FFF_FFFF
    #expect((150...200).contains(strong))
    // The second object has plain counts: 150 references in the dictionary and 11 in the array.
    let counts = try word("object second", 8)
    #expect(counts & 1 == 1 && (161...200).contains(counts >> 33 & 0x3FFF_FFFF))
    // The image has 0 for this word, which is neither a count nor an address.
    #expect(try word("object second", 32) == 0)

    #expect(try word("object array", 16) == 11)
    #expect(try word("object dictionary", 16) == 300)
    let scale = try word("object dictionary", 32)
    #expect((9...12).contains(scale))
    let bits = try (0..<(1 << scale / 64)).map { try word("object dictionary", 64 + 8 * $0).nonzeroBitCount }.reduce(
      0, +)
    #expect(bits == 300)
    #expect(try word("object set", 16) == 40)
    let setScale = try word("object set", 32)
    let setBits = try (0..<max(1, 1 << setScale / 64)).map { try word("object set", 56 + 8 * $0).nonzeroBitCount }
      .reduce(0, +)
    #expect(setBits == 40)

    // This word has the size and alignment of instances. The generic argument below is a tuple of two elements.
    #expect(try word("metadata node", 24) & 0xFFFF_FFFF == 40)
    let holder = try #require(places["metadata holder"])
    let argument = (7..<12).compactMap { image.words[holder + 8 * $0] }.first { image.words[$0] == 0x301 }
    #expect(try #require(argument.flatMap { image.words[$0 + 8] }) == 2)
  }

  @Test("No text or number of a user is in a snapshot") func secrets() throws {
    let secret = "zQ7vKx9wJq3TzYb8RmXk5PdWhG2nLs4C"
    let directory = try TemporaryDirectory()
    var command = Command(
      TracedRun.recordArguments(directory) + [try TestProgram("snapshot-secrets.swift").path(), secret])
    command.environment["SECRET"] = secret
    let outcome = try command.run()
    #expect(outcome.end == .exit(0))
    let trace = try #require(try TracedRun.traces(in: directory).first)
    let image = try #require(try HeapImage.images(of: trace.path).last)
    #expect(image.isComplete && image.words.count > 10_000)
    // The image must not contain five consecutive letters of the secret, forwards or backwards, or four as UTF-16. Two
    // letters may match by chance, as bytes of an address.
    let forwards = Array(secret.utf8), wide = Array(secret.utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    func pieces(_ text: [UInt8], length: Int) -> Set<UInt64> {
      Set((0...(text.count - length)).map { text[$0..<($0 + length)].reduce(0) { $0 << 8 | UInt64($1) } })
    }
    let narrowPieces = pieces(forwards, length: 5).union(pieces(forwards.reversed(), length: 5))
    let widePieces = pieces(wide, length: 7)
    func holdsPiece(_ bytes: some Sequence<UInt8>) -> Bool {
      var last: UInt64 = 0
      return bytes.contains { byte in
        last = last << 8 | UInt64(byte)
        return narrowPieces.contains(last & 0xFF_FFFF_FFFF) || widePieces.contains(last & 0xFF_FFFF_FFFF_FFFF)
      }
    }
    let telling = image.words.first { _, word in withUnsafeBytes(of: word) { holdsPiece($0) } }
    #expect(telling == nil)
    for payload in image.payloads { #expect(!holdsPiece(payload)) }
  }

  @Test(
    "Threads that allocate and lock can be frozen repeatedly",
    arguments: TestTier.arguments(
      [("snapshot-threads.c", "16", "5"), ("snapshot-tasks.swift", "16", "5")],
      of: [("snapshot-threads.c", "64", "100"), ("snapshot-tasks.swift", "64", "20")]))
  func busyThreads(program: String, threads: String, snapshots: String) throws {
    let run = try TracedRun([try TestProgram(program).path(), threads, snapshots], options: ["--arc", "off"])
    run.expectSameBehaviour()
    let trace = try run.onlyTrace()
    let images = try HeapImage.images(of: trace.path, words: { $0 % 20 == 1 })
    #expect(images.count == Int(snapshots)! + 1)
    for image in images {
      #expect(image.isComplete && image.isFrozen, "\(image.header.number)")
      #expect(image.threadsWithRegisters == image.threads.count)
      if image.header.reason == UInt32(LT_SNAPSHOT_CALL) { #expect(image.threads.count >= Int(threads)!) }
    }
    #expect(images.first?.label == (program.hasSuffix(".c") ? "round 1" : "round"))
    #expect(zip(images, images.dropFirst()).allSatisfy { $0.header.time < $1.header.time })
  }

  @Test(
    "Snapshot processes are invisible to wait calls and resource usage", arguments: ["0", "3"])
  func family(
    threads: String
  ) throws {
    let run = try TracedRun([try TestProgram("snapshot-family.c").path(), threads])
    run.expectSameBehaviour()
    #expect(run.traced.output == "used before 0, after 1; strangers 0, own child 1 with status 9, signals 1\n")
    let images = try HeapImage.images(of: try run.onlyTrace().path)
    #expect(images.count == 21 && images.allSatisfy(\.isComplete))
  }

  @Test("A process that may not be traced is copied while it runs", arguments: ["error", "kill", "no-dumps"])
  func refused(way: String) throws {
    let run = try TracedRun([try TestProgram("snapshot-refused.c").path(), way])
    run.expectSameBehaviour()
    #expect(run.traced.output == "still there\n")
    let images = try HeapImage.images(of: try run.onlyTrace().path)
    #expect(images.count == 2)
    for image in images {
      #expect(image.isComplete)
      #expect(image.threads.count == 4)
      // A process with all capabilities may trace any process.
      if way != "no-dumps" || getuid() != 0 { #expect(!image.isFrozen && image.threadsWithRegisters == 1) }
    }
  }

  @Test("An unreadable page is missing from the image, and no other page is", arguments: ["guard", "key"])
  func unreadable(
    way: String
  ) throws {
    let run = try TracedRun([try TestProgram("unreadable-pages.c").path(), way])
    #expect(run.traced.end == .exit(0))
    let image = try #require(try HeapImage.images(of: try run.onlyTrace().path).first)
    #expect(image.isComplete)
    try Self.expectWords(image, printed: run.traced.output)
    // The copy of the process has access to the pages of all protection keys.
    let isUnreadable = way == "guard" && !run.traced.output.contains("unknown")
    #expect(try #require(image.end).unreadablePages == (isUnreadable ? 1 : 0))
    let list = try Command([BuildProducts.leaktrace, "snapshots", run.onlyTrace().path]).run()
    #expect(list.output.contains("lacks 1 page that could not be read") == isUnreadable, "\(list.output)")
  }

  @Test("Reserved memory takes no space in an image", arguments: [[], ["--light"]]) func reserved(
    options: [String]
  ) throws {
    let run = try TracedRun([try TestProgram("unreadable-pages.c").path(), "reserve"], options: options)
    let image = try #require(try HeapImage.images(of: try run.onlyTrace().path).first)
    #expect(image.isComplete)
    try Self.expectWords(image, printed: run.traced.output)
    // Reading reserved memory page by page would take minutes.
    #expect(try #require(image.end).totalNanoseconds < 30_000_000_000)
  }

  @Test("Locks and ports are free right after an image", arguments: ["alone", "threads"]) func locks(
    threads: String
  ) throws {
    let run = try TracedRun([try TestProgram("locks-after-image.c", flags: ["-pthread"]).path(), threads])
    run.expectSameBehaviour()
    #expect(run.traced.output == "refused: 0 locks, 0 ports\n")
    #expect(try HeapImage.images(of: try run.onlyTrace().path, words: { _ in false }).count == 41)
  }

  @Test(
    "A wait ends on time, however many images are taken",
    arguments: TestTier.arguments(
      ["epoll_wait", "recv"],
      of: ["epoll_wait", "epoll_pwait2", "sigtimedwait", "semtimedop", "io_uring_enter", "recv"]))
  func timedWaits(call: String) throws {
    let run = try TracedRun(
      [try TestProgram("waits-under-images.c", flags: ["-pthread"]).path(), call], options: ["--arc", "off"])
    run.expectSameBehaviour()
    // Some systems forbid io_uring.
    if run.traced.output.contains("not permitted") || run.traced.output.contains("not implemented") { return }
    // If each image restarted the wait with its full time, the wait would last for all 60 images.
    let images = try HeapImage.images(of: try run.onlyTrace().path, words: { _ in false })
    #expect(images.count >= 3 && images.count < 40, "\(images.count)")
  }

  @Test(
    "A copy that the kernel delays is made while threads run, or given up",
    arguments: ["read", "unread"])
  func userfault(way: String) throws {
    let run = try TracedRun([try TestProgram("snapshot-userfault.c", flags: ["-pthread"]).path(), way])
    #expect(run.traced.end == .exit(0) && run.traced.output == run.untraced.output)
    if run.traced.output.hasPrefix("refused") { return }
    let reader = try TraceReader(path: run.onlyTrace().path)
    if way == "read" {
      let image = try #require(reader.snapshots.first, "\(run.recorderLines)")
      #expect(image.isWhole && !image.isFrozen)
    } else {
      #expect(reader.snapshots.isEmpty && reader.failedSnapshots.count == 1)
      #expect(run.recorderLines.contains { $0.contains("userfaultfd") }, "\(run.recorderLines)")
      // A missing image is not reported as a clean result, with or without a gate.
      let path = try run.onlyTrace().path
      for (gate, status) in [([], Int32(0)), (["--fail-on", "leaks"], 3)] {
        let analyzed = try Command([BuildProducts.leaktrace, "analyze", path] + gate).run()
        #expect(analyzed.end == .exit(status), "\(analyzed)")
        #expect(analyzed.output.contains("Leaks: not checked:") && !analyzed.output.contains("none found"))
      }
    }
  }

  @Test("A thread waiting for a vfork child counts as stopped") func vforkParent() throws {
    let run = try TracedRun([try TestProgram("snapshot-vfork.c").path()])
    run.expectSameBehaviour()
    let image = try #require(try HeapImage.images(of: try run.onlyTrace().path).first)
    #expect(image.isComplete && image.isFrozen)
    #expect(image.threads.count == 2 && image.threadsWithRegisters == 1)
    let pause = try #require(image.end).pauseNanoseconds
    #expect(pause > 0 && pause < 4_000_000_000)
  }

  @Test("Threads are not stopped for longer because one thread gets no processor", .secondTier) func lateThread() throws
  {
    let program = try TestProgram("late-thread.c", flags: ["-pthread"]).path()
    let run = try TracedRun([program, "8", "6", "6", "1", "1"], options: ["--arc", "off"])
    #expect(run.traced.end == .exit(0))
    let line = try #require(run.traced.output.split(separator: "\n").first { $0.hasPrefix("stack ") })
    let bounds = line.split(separator: " ").compactMap { UInt64($0.dropFirst(2), radix: 16) }
    let stack = try #require(bounds.first)..<(try #require(bounds.last))
    let images = try HeapImage.images(of: try run.onlyTrace().path, words: { _ in false })
      .filter { $0.header.reason == UInt32(LT_SNAPSHOT_CALL) }
    #expect(images.count == 6)
    for image in images {
      #expect(image.isComplete && image.isFrozen)
      #expect(image.threads.count == 10 && image.threadsWithRegisters == 10)
      #expect(image.threads.count { stack.contains($0.stackPointer) } == 1)
    }
    // The copy must wait for the registers of the late thread. So the image takes long, but the pause of the other
    // threads is short.
    let ends = images.compactMap(\.end)
    let slowest = try #require(ends.max { $0.totalNanoseconds < $1.totalNanoseconds })
    #expect(slowest.pauseNanoseconds * 2 < slowest.totalNanoseconds, "\(ends)")
  }

  @Test("A process killed while its snapshot is written leaves a closed trace") func killed() throws {
    for delay in TestTier.arguments([20_000], of: [0, 20_000, 60_000]) {
      let directory = try TemporaryDirectory()
      let running = try Command(
        TracedRun.recordArguments(directory) + [try TestProgram("snapshot-large.c").path(), "200", "wait"]
      ).start()
      func trace() throws -> RecordedTrace? { try TracedRun.traces(in: directory).first }
      try AwaitedState.wait(until: "an image begins") {
        // The image grows while it is being read. Such a read may miss a part and see the next one, so a failed read is
        // repeated.
        guard let path = try trace()?.path, let images = try? HeapImage.images(of: path, words: { _ in false }) else {
          return false
        }
        return !images.isEmpty
      }
      // This sleep does not wait for a state: it varies how much of the image is written when the process is killed.
      usleep(UInt32(delay))
      let processID = Int32(try #require(try trace()).processID)
      let copy = ProcessState(processID: processID).child
      kill(processID, SIGKILL)
      #expect(try running.wait().end == .signal(SIGKILL))
      let found = try #require(try trace())
      #expect(found.state == .closed(.recovered))
      #expect(try TraceContents(found.path).orphans == 0)
      if let copy {
        try AwaitedState.wait(until: "the copy has noticed as well") { ProcessState(processID: copy).hasEnded }
      }
      #expect(try trace()?.fileSize == found.fileSize)
      #expect(try HeapImage.images(of: found.path, words: { _ in false }).count == 1)
    }
  }

  @Test("record waits for a copy that has not yet noticed its process's death") func killedBeforeItsCopySees() throws {
    let directory = try TemporaryDirectory()
    let running = try Command(
      TracedRun.recordArguments(directory) + [try TestProgram("snapshot-large.c").path(), "200", "wait"]
    ).start()
    let (process, copy) = try AwaitedState.value("the image is being written") { () -> (Int32, Int32)? in
      guard let process = (try TracedRun.traces(in: directory).first?.processID).map({ Int32($0) }) else { return nil }
      return ProcessState(processID: process).child.map { (process, $0) }
    }
    kill(copy, SIGSTOP)
    kill(process, SIGKILL)
    try AwaitedState.wait(until: "the process has ended") { ProcessState(processID: process).hasEnded }
    // If `record` did not wait for the copy, it would close the trace in this time.
    usleep(300_000)
    kill(copy, SIGCONT)
    #expect(try running.wait().end == .signal(SIGKILL))
    #expect(try TracedRun.traces(in: directory).first?.state == .closed(.recovered))
  }

  @Test("A disk too full for a snapshot does not harm the program, and is reported", .enabled(if: getuid() == 0))
  func fullDisk() throws {
    let directory = try TemporaryDirectory()
    let mountPoint = directory.path + "/small"
    try FileManager.default.createDirectory(atPath: mountPoint, withIntermediateDirectories: false)
    let mounted = try Command(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mountPoint]).run()
    try #require(mounted.end == .exit(0), "cannot mount here: \(mounted.errorOutput)")
    defer { _ = try? Command(["umount", mountPoint]).run() }
    let program = [try TestProgram("snapshot-large.c").path(), "16"]
    let untraced = try Command(program).run()
    var traced = try Command(
      [BuildProducts.leaktrace, "record", "--quiet", "-o", mountPoint + "/full.trace", "--"] + program
    ).run()
    let lines = TracedRun.separateRecorderLines(&traced)
    #expect(traced == untraced)
    #expect(lines.contains { $0.contains("snapshot") && $0.contains("No space left on device") }, "\(lines)")
    let images = try HeapImage.images(of: mountPoint + "/full.trace")
    #expect(images.allSatisfy { !$0.isComplete })
    #expect(RecordedTrace(path: mountPoint + "/full.trace") != nil)
  }
}
