// The recorder's memory for a process and for each thread is at most the figures in docs/resource-use.md.

import Foundation
import TestRequirements
import Testing

@Suite(.serialized, .requires(.recorder)) struct MemoryUseTests {
  /// The limits for a recorded thread, in KiB: address space, and resident memory.
  static let threadAddressSpace = 512, threadResident = 384
  /// The limit for a process without its threads, in KiB.
  static let processAddressSpace = 32 << 10
  /// The address space in KiB that the recorder takes for its first thread in a process with a limit.
  static let firstThread = 1536

  private static let threads = 40

  /// Parses lines of a word and two numbers. Returns the numbers by word.
  private func figures(_ output: String) throws -> [String: (Int, Int)] {
    var result: [String: (Int, Int)] = [:]
    for line in output.split(separator: "\n") {
      let fields = line.split(separator: " ")
      result[String(fields[0])] = (try #require(Int(fields[1])), try #require(Int(fields[2])))
    }
    return result
  }

  private func run(_ arguments: String...) throws -> (untraced: [String: (Int, Int)], traced: [String: (Int, Int)]) {
    let run = try TracedRun(
      [try TestProgram("memory-use.c", flags: ["-lpthread"]).path()] + arguments, options: ["--no-snapshots"])
    #expect(run.untraced.end == .exit(0) && run.traced.end == .exit(0))
    return (try figures(run.untraced.output), try figures(run.traced.output))
  }

  /// Returns how much the recorder's memory grew between the program's two reports: address space, and resident memory.
  private func ofThread(_ way: String) throws -> (Int, Int) {
    let (untraced, traced) = try run("\(Self.threads)", way)
    func grown(_ figures: [String: (Int, Int)]) throws -> (Int, Int) {
      let before = try #require(figures["before"]), with = try #require(figures["with"])
      return (with.0 - before.0, with.1 - before.1)
    }
    let own = try grown(untraced), recorded = try grown(traced)
    #expect(try #require(traced["before"]).0 - (try #require(untraced["before"])).0 <= Self.processAddressSpace)
    return ((recorded.0 - own.0) / Self.threads, (recorded.1 - own.1) / Self.threads)
  }

  @Test("A recorded thread takes at most half a MiB of address space, partly resident") func thread()
    throws
  {
    let (address, resident) = try ofThread("any")
    #expect(
      address <= Self.threadAddressSpace && resident <= Self.threadResident, "\(address) KiB, \(resident) KiB resident")
  }

  @Test("A thread takes no more memory if the process locks its memory") func lockedThread() throws {
    let (address, resident) = try ofThread("locked")
    #expect(
      address <= Self.threadAddressSpace && resident <= Self.threadAddressSpace,
      "\(address) KiB, \(resident) KiB resident")
  }

  @Test(
    "A thread without room for its state takes no memory, however often it calls",
    arguments: [200, 300, 500, 1000, 5000, 20000])
  func littleAddressSpace(kibibytes: Int) throws {
    let (untraced, traced) = try run("1", "\(kibibytes)")
    let without = try #require(untraced["taken"]).0, with = try #require(traced["taken"]).0
    #expect(with >= without - Self.firstThread, "\(with) KiB, \(without) KiB untraced")
    // The recorder takes its memory as a whole or not at all. Where it does not fit, the program gets the rest.
    #expect(kibibytes > 300 || with > 0)
  }
}
