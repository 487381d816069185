// The frames of the threads in a heap image, found by the call frame information of the program's files.

import TestRequirements
import Testing

@testable import HeapAnalysis
import TextWriting
@testable import TraceReading

@Suite(.requires(.recorder)) struct ThreadFramesTests {
  @Test("The stacks of threads that wait are unwound to their beginning", arguments: [["-Onone"], ["-O"]])
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
}
