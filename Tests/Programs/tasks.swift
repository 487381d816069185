// A concurrent Swift program: task groups, actors, continuations, async let, sleeping tasks.
actor Tally {
  private var sum = 0
  private var names: [String: Int] = [:]
  func add(_ value: Int, _ name: String) { sum += value; names[name, default: 0] += 1 }
  var total: (Int, Int) { (sum, names.count) }
}

func deep(_ level: Int) async -> [Int] {
  if level == 0 { await Task.yield(); return [1] }
  async let left = deep(level - 1)
  let right = await deep(level - 1)
  return await left + right
}

@main struct Program {
  static func main() async throws {
    let tally = Tally()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 { group.addTask { await tally.add(number, "name number \(number % 20)") } }
    }
    let answered = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
      Task.detached { continuation.resume(returning: 42) }
    }
    try await Task.sleep(for: .milliseconds(5))
    let total = await tally.total
    print(total.0, total.1, answered, await deep(6).count)
  }
}
