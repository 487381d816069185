// The recorder's own frames are not in the stacks that it records, and its own values not in the program's registers.

import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder)) struct OwnFramesTests {
  @Test("No stack has a frame of the recorder", arguments: ["plain.swift", "tasks.swift", "allocation-calls.c"])
  func noOwnFrames(source: String) throws {
    let arguments = source.hasSuffix(".c") ? ["2", "50"] : []
    let run = try TracedRun([try TestProgram(source).path()] + arguments)
    defer { withExtendedLifetime(run) {} }
    let reader = try TraceReader(path: try run.onlyTrace().path)
    let walker = ChunkWalker(reader)
    var eventCount = 0
    for index in reader.chunks.indices {
      #expect(walker.events(inChunk: index) { _ in eventCount += 1 } == nil)
    }
    #expect(eventCount > 100)
    let stacks = reader.definitions.stacks
    let images = reader.definitions.images
    #expect(images.contains { $0.image.path.hasSuffix("/libleaktrace.so") })
    var frames = 0
    for node in 2..<stacks.nodeCount {
      guard let frame = stacks.frame(of: StackID(UInt32(node))), let image = frame.image else { continue }
      frames += 1
      #expect(
        !images[image].image.path.hasSuffix("/libleaktrace.so"),
        "a frame at \(String(frame.key.address.rawValue, radix: 16))")
    }
    #expect(frames > 10)
  }

  @Test("After an allocation, no scratch register has the block's address") func scratchRegisters() throws {
    let run = try TracedRun([try TestProgram("scratch-registers.c", flags: ["-O2"]).path()])
    #expect(run.traced.output == "done\n" && run.traced.end == .exit(0), "\(run.traced)")
  }
}
