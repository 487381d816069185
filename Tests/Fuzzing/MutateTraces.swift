// Changes the records of traces, corrects the checksums, and runs all commands on the traces.
// Usage: mutate-traces FIRST COUNT INPUT... Uses COUNT seeds, beginning with FIRST. INPUT: a trace, or an input of the
// fuzzer. Prints each seed that exceeds a limit of time or memory, and exits with 1 if there were any. After a crash,
// the file `mutate-traces.seed` contains the seed.

import Glibc
import HeapAnalysis

@testable import TraceReading

@main struct MutateTraces {
  /// Limit for all commands on one trace. This is processor time, which does not depend on other processes.
  private static let timeLimit = Duration.seconds(10)
  /// Limit of the resident memory, in bytes.
  private static let memoryLimit = 2 << 30
  /// The memory limit of the second reading, which trusts the trace, and the time after which it is interrupted.
  private static let trustedLimit = MemoryLimit(ByteCount(1 << 30))
  private static let trustedTime = Duration.seconds(5)

  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count > 3, let first = UInt64(arguments[1]), let count = UInt64(arguments[2]) else { exit(64) }
    let inputs = arguments.dropFirst(3).compactMap(trace)
    guard !inputs.isEmpty else { exit(64) }
    var (failures, refused) = (0, 0)
    var slowest = Duration.zero
    var highest = 0
    for seed in first..<first + count {
      note(seed)
      var mutation = TraceMutation(seed: seed)
      guard let bytes = try? mutation.mutated(inputs[Int(seed % UInt64(inputs.count))]) else {
        refused += 1
        continue
      }
      // Reset the process's peak of resident memory.
      write("5", to: "/proc/self/clear_refs")
      let start = processorTime()
      FuzzInput(trace: bytes).readEverything()
      let time = processorTime() - start
      let memory = peak()
      slowest = max(slowest, time)
      highest = max(highest, memory)
      let trustedMemory = peakOfTrustedReading(bytes)
      if trustedMemory > memoryLimit {
        failures += 1
        print("seed \(seed): \(trustedMemory >> 20) MiB for a trusted trace")
      }
      if time > timeLimit || memory > memoryLimit {
        failures += 1
        print("seed \(seed): \(time), \(memory >> 20) MiB")
      }
    }
    print(
      "\(count) seeds from \(first): \(failures) took too much, \(refused) were no trace; the slowest \(slowest), the most memory \(highest >> 20) MiB"
    )
    exit(failures > 0 ? 1 : 0)
  }

  private static func trace(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&part, 1, part.count, file)
      if count == 0 { break }
      bytes += part.prefix(count)
    }
    return bytes.first == 0x89 ? bytes : FuzzInput(bytes)?.trace
  }

  /// Returns the most memory, in bytes, that this process has while it reads a trace without limits by its size.
  /// Exports and databases are left out, because they have no part in the memory limit.
  private static func peakOfTrustedReading(_ bytes: [UInt8]) -> Int {
    write("5", to: "/proc/self/clear_refs")
    let end = processorTime() + trustedTime
    let policy = ReadingPolicy(memoryLimit: trustedLimit, isInterrupted: { processorTime() > end })
    guard let reader = try? TraceReader(bytes: bytes, policy: policy) else { return 0 }
    let snapshot = reader.snapshots.last
    let allocations = AllocationAnalysis(reader, snapshot: snapshot)
    var diagnostics = allocations.diagnostics
    if let snapshot { _ = HeapImage(snapshot, in: reader, diagnostics: &diagnostics) }
    return peak()
  }

  private static func note(_ seed: UInt64) { write("\(seed)\n", to: "mutate-traces.seed") }

  private static func write(_ text: String, to path: String) {
    guard let file = fopen(path, "w") else { return }
    fputs(text, file)
    fclose(file)
  }

  /// Returns the processor time that this process has used. It starts no other process to read traces.
  private static func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// Returns the peak of resident memory in bytes.
  private static func peak() -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), file) != nil {
      let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split {
        $0.isWhitespace
      }
      if words.count > 1, words[0] == "VmHWM:" { return (Int(words[1]) ?? 0) << 10 }
    }
    return 0
  }
}
