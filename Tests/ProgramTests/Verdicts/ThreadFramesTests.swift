// The frames of the threads in a heap image, found by the call frame information of the program's files.

import Glibc
import ProcessInspection
import TestRequirements
import Testing

@testable import HeapAnalysis
import TextWriting
@testable import TraceReading

@Suite(.requires(.recorder)) struct ThreadFramesTests {
  @Test("Stacks of waiting threads are unwound to their start", arguments: [["-Onone"], ["-O"]])
  func waitingThreads(flags: [String]) throws {
    let program = try TestProgram("parked-threads.swift", flags: flags).path()
    let run = try TracedRun([program])
    let reader = try TraceReader(path: try run.onlyTrace().path)
    let snapshot = try #require(reader.snapshots.last)
    let images = AllocationAnalysis(reader, snapshot: snapshot).definitions.images.map(\.image)
    var diagnostics = TraceDiagnostics()
    let frames = ThreadFrames(
      ImageContents(images),
      image: HeapAnalysis.HeapImage(snapshot, in: reader, limit: .standard, diagnostics: &diagnostics))
    var inProgram: [Int] = []
    for thread in snapshot.threads where thread.isWaiting && !thread.isSelf {
      let addresses = try #require(frames.addresses(of: thread), "thread \(thread.osThread)")
      #expect(addresses.count > 3)
      // The outermost frame of every thread is in the C library.
      let names = addresses.map { address in
        images.first { $0.range.contains(RuntimeAddress(address)) }.map { fileName(ofPath: $0.path) } ?? ""
      }
      #expect(names.last?.hasPrefix("libc.") ?? false, "\(names)")
      inProgram.append(names.count { $0.hasPrefix("parked-threads") })
    }
    inProgram.sort()
    // The thread that waits at the gate has frames in the program: its functions, and the closure that called them. The
    // other threads have no frames in the program.
    let expected = flags == ["-Onone"] ? 5 : 2
    #expect(
      (inProgram.last ?? 0) >= expected && inProgram.dropLast().allSatisfy { $0 == 0 } && inProgram.count > 1,
      "\(inProgram)")
  }
  @Test("A heap image's words and the process's memory give the same frames", .requires(.command))
  func sameFramesFromWordsAndMemory() throws {
    let program = try InspectionTests.Waiting(TestProgram("standing-threads.swift", flags: ["-Onone"]))
    let trace = program.directory.path + "/inspected"
    let outcome = try Command([BuildProducts.leaktrace, "inspect", String(program.processID), "-o", trace]).run()
    try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let reader = try TraceReader(path: trace)
    let snapshot = try #require(reader.snapshots.last)
    let definitions = AllocationAnalysis(reader, snapshot: snapshot).definitions
    var diagnostics = TraceDiagnostics()
    let frames = ThreadFrames(
      ImageContents(definitions.images.map(\.image)),
      image: HeapAnalysis.HeapImage(snapshot, in: reader, limit: .standard, diagnostics: &diagnostics))
    var ends: [ThreadStack.End] = []
    for thread in snapshot.threads {
      let stack = try #require(definitions.threadStacks[UInt64(thread.osThread)])
      let addresses = frames.addresses(of: thread)
      // Frames that are found in part are not used.
      let expected = stack.end == .complete ? stack.frames.map(\.key.address.rawValue) : nil
      #expect(addresses == expected, "\(stack)")
      ends.append(stack.end)
      if stack.name == "interrupted" { try Self.checkInterruptedFrame(stack, program.processID) }
    }
    // The main thread, and threads that call, compute, handle a signal, recurse deeply, and run generated code.
    #expect(ends.count { $0 == .complete } == 4 && ends.count { $0 == .cut } == 1 && ends.count { $0 == .noRules } == 1)
    _ = try program.end(SIGKILL)
  }

  /// Checks that the frame after the signal frame has an exact address, and that no other caller has one.
  private static func checkInterruptedFrame(_ stack: ThreadStack, _ process: Int32) throws {
    // mov $15, %rax; syscall. This is the code of a signal restorer (glibc, and Linux's rt_sigreturn).
    let restorer: [UInt8] = [0x48, 0xC7, 0xC0, 0x0F, 0, 0, 0, 0x0F, 0x05]
    let memory = try LiveProcessMemory(processID: process)
    let isRestorer = stack.frames.map { frame in
      var bytes = [UInt8](repeating: 0, count: restorer.count)
      return bytes.withUnsafeMutableBytes { memory.read(frame.key.address, into: $0) } == bytes.count
        && bytes == restorer
    }
    let signalFrame = try #require(isRestorer.firstIndex(of: true))
    #expect(stack.frames.indices.filter { stack.frames[$0].key.isExact } == [0, signalFrame + 1])
  }
}
