// Makes one kind of recorded call after another, each COUNT times, so that the instructions of the recorder's paths can be counted. Each
// measurement lies between a call of "counting_begins" and a call of "counting_ends". Usage: hook-paths COUNT. Prints the name of each
// measurement, in order, and the number of its calls.

import Glibc
import Dispatch

final class Node {
  var value: Int
  init(_ value: Int) { self.value = value }
}

final class Reference {
  weak var weakly: Node?
  unowned var unowned: Node
  init(_ node: Node) { (weakly, unowned) = (node, node) }
}

let count = Int(CommandLine.arguments[1])!
let blocks = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: count)

// Not inlined: adjacent calls would be merged.
@inline(never) func makeObject(_ value: Int) -> Unmanaged<Node> { Unmanaged.passRetained(Node(value)) }
@inline(never) func retainOnce(_ object: Unmanaged<Node>) { _ = object.retain() }
@inline(never) func releaseOnce(_ object: Unmanaged<Node>) { object.release() }
@inline(never) func loadWeakly(_ reference: Reference) -> Int { reference.weakly?.value ?? 0 }
@inline(never) func loadUnowned(_ reference: Reference) -> Int { reference.unowned.value }

let object = makeObject(0)
let reference = Reference(object.takeUnretainedValue())

func freeBlocks() { for index in 0..<count { free(blocks[index]) } }

// MARK: one short stack

@inline(never) func pathMalloc() -> Int {
  for index in 0..<count { blocks[index] = malloc(48) }
  return count
}

@inline(never) func pathCalloc() -> Int {
  for index in 0..<count { blocks[index] = calloc(3, 16) }
  return count
}

@inline(never) func pathRealloc() -> Int {
  for index in 0..<count { blocks[index] = realloc(blocks[index], 40) }
  return count
}

@inline(never) func pathFree() -> Int {
  freeBlocks()
  return count
}

@inline(never) func pathObject() -> Int {
  for index in 0..<count { blocks[index] = makeObject(index).toOpaque() }
  return count
}

@inline(never) func pathRetain() -> Int {
  for _ in 0..<count { retainOnce(object) }
  return count
}

@inline(never) func pathRelease() -> Int {
  for _ in 0..<count { releaseOnce(object) }
  return count
}

/// A load and the release of the loaded reference.
@inline(never) func pathWeakLoad() -> Int {
  var sum = 0
  for _ in 0..<count { sum &+= loadWeakly(reference) }
  return sum == 0 ? count : 0
}

/// A load and the release of the loaded reference.
@inline(never) func pathUnownedLoad() -> Int {
  var sum = 0
  for _ in 0..<count { sum &+= loadUnowned(reference) }
  return sum == 0 ? count : 0
}

// MARK: other stacks

@inline(never) func allocateHere(_ index: Int) { blocks[index] = malloc(32) }
@inline(never) func allocateThere(_ index: Int) { blocks[index] = malloc(64) }

/// 40 frames that stay, and two functions in turn at their end.
@inline(never) func pathDeepStack() -> Int {
  for index in stride(from: 0, to: count - 1, by: 2) {
    allocateHere(index)
    allocateThere(index + 1)
  }
  return count
}

// What is made of the result keeps the calls from becoming a loop.
@inline(never) func descend(_ depth: Int, to bottom: () -> Void) {
  if depth > 0 { descend(depth - 1, to: bottom) } else { bottom() }
  returns &+= 1
}
nonisolated(unsafe) var returns = 0

@inline(never) func descendHere(_ depth: Int, _ index: Int) -> Int {
  if depth == 0 {
    allocateHere(index)
    return index
  }
  let below = descendHere(depth - 1, index)
  return below ^ (below >> 62)
}

@inline(never) func descendThere(_ depth: Int, _ index: Int) -> Int {
  if depth == 0 {
    allocateThere(index)
    return index
  }
  let below = descendThere(depth - 1, index)
  return below ^ (below >> 62)
}

/// Two stacks in turn that have 20 frames each, and share only the outermost.
@inline(never) func pathDistantStacks() -> Int {
  for index in stride(from: 0, to: count - 1, by: 2) where descendHere(20, index) != index || descendThere(20, index + 1) != index + 1 { return 0 }
  return count
}

@inline(never) func allocateOnTheWay(_ depth: Int) -> Int {
  if depth == 0 { return 0 }
  blocks[depth] = malloc(depth * 16)
  let below = allocateOnTheWay(depth - 1)
  free(blocks[depth])
  return below ^ (below >> 62)
}

/// An allocation in each frame on the way down, a free in each on the way up.
@inline(never) func pathRecursion() -> Int {
  let depth = 10
  for _ in 0..<count / (2 * depth) where allocateOnTheWay(depth) != 0 { return 0 }
  return count / (2 * depth) * (2 * depth)
}

/// In a task, with callers that wait for it.
@inline(never) func pathTask() -> Int {
  for index in stride(from: 0, to: count - 1, by: 2) {
    allocateHere(index)
    allocateThere(index + 1)
  }
  return count
}

@inline(never) func descendAwaiting(_ depth: Int, to bottom: @Sendable () -> Void) async {
  if depth > 0 {
    await descendAwaiting(depth - 1, to: bottom)
  } else {
    await Task.yield()
    bottom()
  }
  returns &+= 1
}

/// While there is a second thread: the order of events is the clock's.
@inline(never) func pathThreads() -> Int {
  for index in 0..<count { blocks[index] = malloc(48) }
  return count
}

// MARK: measuring

/// The functions are looked up by name, so that the compiler does not specialise them.
let paths: [String: @convention(c) () -> Int] = [
  "malloc": pathMalloc, "calloc": pathCalloc, "realloc": pathRealloc, "free": pathFree, "object": pathObject, "retain": pathRetain, "release": pathRelease,
  "weak load": pathWeakLoad, "unowned load": pathUnownedLoad, "deep stack": pathDeepStack, "distant stacks": pathDistantStacks,
  "recursion": pathRecursion, "task": pathTask, "threads": pathThreads,
]

// The compiler would leave out calls without an effect, and merge functions with equal code.
@_silgen_name("counting_begins") @inline(never) func countingBegins() { marks &+= 1 }
@_silgen_name("counting_ends") @inline(never) func countingEnds() { marks &+= 2 }
nonisolated(unsafe) var marks = 0

func measure(_ name: String) {
  let path = paths[name]!
  countingBegins()
  let calls = path()
  countingEnds()
  print("\(name): \(calls)")
}

measure("malloc")
measure("realloc")
measure("free")
measure("calloc")
freeBlocks()
measure("object")
measure("retain")
measure("release")
measure("weak load")
measure("unowned load")
descend(40) { measure("deep stack") }
freeBlocks()
measure("distant stacks")
freeBlocks()
measure("recursion")

// Threads come last: there is no way back.
let done = DispatchSemaphore(value: 0)
Task.detached {
  await descendAwaiting(8) { measure("task") }
  done.signal()
}
done.wait()
freeBlocks()
measure("threads")
