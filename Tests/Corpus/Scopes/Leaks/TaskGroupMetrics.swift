// Child tasks measure what each request took, and the history of all measurements is kept.

final class LatencySample: Sendable {
  let shard: Int
  let steps: Int

  init(shard: Int, steps: Int) {
    self.shard = shard
    self.steps = steps
  }
}

enum MetricsHistory {
  nonisolated(unsafe) static var samples: [LatencySample] = []
  nonisolated(unsafe) static var next = 0

  static func append(_ sample: LatencySample) { samples.append(sample) }

  /// As in a ring: the newest in place of the oldest.
  static func append(_ sample: LatencySample, keeping limit: Int) {
    if samples.count < limit { samples.append(sample) } else { samples[next % limit] = sample }
    next += 1
  }
}

enum TaskGroupMetrics: AsyncFaultyProgram {
  static func faulty() async { for request in 0..<64 { await search(request, limit: nil) } }
  static func correct() async { for request in 0..<64 { await search(request, limit: 32) } }

  @inline(never) private static func search(_ request: Int, limit: Int?) async {
    await withTaskGroup(of: LatencySample.self) { group in
      for shard in 0..<4 { group.addTask { await query(shard, request) } }
      for await sample in group {
        note(sample.shard)
        if let limit { MetricsHistory.append(sample, keeping: limit) } else { MetricsHistory.append(sample) }
      }
    }
  }

  @Sendable private static func query(_ shard: Int, _ request: Int) async -> LatencySample {
    await Task.yield()
    return LatencySample(shard: shard, steps: (0..<(request % 10 + 5)).reduce(0, +))
  }
}
