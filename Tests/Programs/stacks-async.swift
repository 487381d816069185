// Allocates in async code of all forms, before and after suspensions, each time saying which functions are awaiting.
import Glibc

@_silgen_name("stacks_next_size") func nextSize() -> Int
@_silgen_name("stacks_allocate") func allocate(_ size: Int) -> UnsafeMutableRawPointer

/// Allocates a block of a size of its own, and writes "logical SIZE NAMES". The names are the functions of this file that call or await the
/// allocation, the innermost first. A closure has the name of the function that contains it, with "#".
@inline(never) func asyncMark(_ names: String) {
  let size = nextSize()
  let block = allocate(size)
  let line = "logical \(size) asyncMark \(names)\n"
  _ = line.utf8.withContiguousStorageIfAvailable { write(1, $0.baseAddress, $0.count) }
  free(block)
}

// MARK: chains

@inline(never) func asyncLeaf(_ n: Int, _ callers: String) async -> Int {
  asyncMark("asyncLeaf \(callers)")
  if n % 2 == 0 { await Task.yield() }
  asyncMark("asyncLeaf \(callers)")
  return n
}
@inline(never) func asyncMiddle(_ n: Int, _ callers: String) async -> Int {
  asyncMark("asyncMiddle \(callers)")
  let first = await asyncLeaf(n, "asyncMiddle \(callers)")
  asyncMark("asyncMiddle \(callers)")
  let second = await asyncLeaf(n + 1, "asyncMiddle \(callers)")
  asyncMark("asyncMiddle \(callers)")
  return first + second
}
@inline(never) func asyncDescend(_ depth: Int, _ callers: String) async -> Int {
  let here = "asyncDescend \(callers)"
  if depth % 5 == 0 { asyncMark(here) }
  if depth == 0 { return await asyncMiddle(2, here) }
  let below = await asyncDescend(depth - 1, here)
  if depth % 7 == 0 { await Task.yield() }
  if depth % 3 == 0 { asyncMark(here) }
  return below + 1
}

struct AsyncFailure: Error {}
@inline(never) func asyncThrowing(_ depth: Int, _ callers: String) async throws -> Int {
  let here = "asyncThrowing \(callers)"
  asyncMark(here)
  if depth == 0 { await Task.yield(); throw AsyncFailure() }
  do { return try await asyncThrowing(depth - 1, here) } catch { asyncMark(here); throw error }
}

// MARK: generics, closures, synchronous code in between

protocol AsyncSource { func asyncValue(_ callers: String) async -> Int }
struct AsyncYielding: AsyncSource {
  @inline(never) func asyncValue(_ callers: String) async -> Int {
    await Task.yield()
    asyncMark("asyncValue \(callers)")
    return 1
  }
}
@inline(never) func asyncGeneric<S: AsyncSource>(_ source: S, _ callers: String) async -> Int {
  let value = await source.asyncValue("asyncGeneric \(callers)")
  asyncMark("asyncGeneric \(callers)")
  return value
}
@inline(never) func syncBetween(_ n: Int, _ callers: String) -> Int {
  asyncMark("syncBetween \(callers)")
  return n > 0 ? syncBetween(n - 1, "syncBetween \(callers)") + 1 : 0
}
@inline(never) func asyncClosures(_ callers: String) async {
  let here = "asyncClosures \(callers)"
  let body: (Int) async -> Int = { n in
    let inner = "asyncClosures# asyncApply \(here)"
    asyncMark(inner)
    let value = await asyncLeaf(n, inner)
    asyncMark(inner)
    return value + syncBetween(2, inner)
  }
  _ = await asyncApply(body)
  asyncMark(here)
}
@inline(never) @_optimize(none) func asyncApply(_ body: (Int) async -> Int) async -> Int { await body(2) + 1 }

// MARK: actors

actor AsyncCounter {
  var value = 0
  @inline(never) func asyncAdd(_ n: Int, _ callers: String) async -> Int {
    asyncMark("asyncAdd \(callers)")
    value += await asyncLeaf(n, "asyncAdd \(callers)")
    asyncMark("asyncAdd \(callers)")
    return value
  }
}
@MainActor @inline(never) func asyncOnMain(_ callers: String) async {
  asyncMark("asyncOnMain \(callers)")
  await Task.yield()
  asyncMark("asyncOnMain \(callers)")
}

// MARK: tasks

enum AsyncLocal { @TaskLocal static var value = 0 }

@inline(never) func asyncTaskLocal(_ callers: String) async {
  let here = "asyncTaskLocal \(callers)"
  await AsyncLocal.$value.withValue(5) {
    let inner = "asyncTaskLocal# \(here)"
    asyncMark(inner)
    _ = await asyncLeaf(4, inner)
    asyncMark(inner)
  }
  asyncMark(here)
}
@inline(never) func asyncGroup(_ callers: String) async -> Int {
  let here = "asyncGroup \(callers)"
  let sum = await withTaskGroup(of: Int.self) { group in
    let inner = "asyncGroup# \(here)"
    // A child's stack ends at the closure it runs.
    for n in 0..<6 { group.addTask { await asyncMiddle(n, "asyncGroup#") } }
    asyncMark(inner)
    var sum = 0
    for await value in group {
      asyncMark(inner)
      sum += value
    }
    return sum
  }
  asyncMark(here)
  return sum
}
@inline(never) func asyncLet(_ callers: String) async -> Int {
  async let left = asyncMiddle(2, "asyncLet#")
  async let right = asyncLeaf(3, "asyncLet#")
  asyncMark("asyncLet \(callers)")
  let sum = await left + right
  asyncMark("asyncLet \(callers)")
  return sum
}
@inline(never) func asyncUnstructured(_ callers: String) async {
  let first = Task { await asyncMiddle(0, "asyncUnstructured#") }
  let second = Task.detached {
    asyncMark("asyncUnstructured#")
    return await asyncDescend(20, "asyncUnstructured#")
  }
  _ = await (first.value, second.value)
  asyncMark("asyncUnstructured \(callers)")
}
@inline(never) func asyncStream(_ callers: String) async {
  let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
  let producer = Task {
    for n in 0..<4 {
      await Task.yield()
      asyncMark("asyncStream#")
      continuation.yield(n)
    }
    continuation.finish()
  }
  for await n in stream {
    asyncMark("asyncStream \(callers)")
    _ = await asyncLeaf(n, "asyncStream \(callers)")
  }
  await producer.value
  asyncMark("asyncStream \(callers)")
}
@inline(never) func asyncContinuation(_ callers: String) async {
  let value = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
    Task.detached { asyncMark("asyncContinuation#"); continuation.resume(returning: 1) }
  }
  asyncMark("asyncContinuation \(callers)")
  try? await Task.sleep(nanoseconds: 1_000_000)
  _ = await asyncLeaf(value, "asyncContinuation \(callers)")
}

@main struct Program {
  static func main() async { await asyncTop() }
}
@inline(never) func asyncTop() async {
  let here = "asyncTop"
  asyncMark(here)
  for round in 0..<3 {
    _ = await asyncMiddle(round, here)
    _ = await asyncDescend(40, here)
    _ = try? await asyncThrowing(5, here)
    _ = await asyncGeneric(AsyncYielding(), here)
    _ = syncBetween(3, here)
    await asyncOnMain(here)
    await asyncClosures(here)
    await asyncTaskLocal(here)
    _ = await asyncGroup(here)
    _ = await asyncLet(here)
    await asyncUnstructured(here)
    await asyncStream(here)
    await asyncContinuation(here)
    let counter = AsyncCounter()
    for n in 0..<3 { _ = await counter.asyncAdd(n, here) }
    asyncMark(here)
  }
}
