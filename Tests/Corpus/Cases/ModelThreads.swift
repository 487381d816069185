// Threads that compute in the function that they begin with, on memory that nothing else knows. What else they made and lost is lost.
import Glibc

enum ModelThreads: FaultyProgram {
  nonisolated(unsafe) private static var forgets = false

  static func faulty() { run(forgetting: true) }
  static func correct() { run(forgetting: false) }

  private static func run(forgetting: Bool) {
    forgets = forgetting
    for _ in 0..<3 { start() }
  }

  @inline(never) private static func start() {
    let begun = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    sem_init(begun, 0, 0)
    var thread = pthread_t()
    pthread_create(&thread, nil, { begun in
      let cells = UnsafeMutablePointer<UInt64>.allocate(capacity: 500)
      cells.initialize(repeating: 3, count: 500)
      ModelThreads.prepare(cells, level: 8)
      if let begun { sem_post(begun.assumingMemoryBound(to: sem_t.self)) }
      // Until the process ends.
      while true { for index in 0..<500 { cells[index] = cells[index] &* 6_364_136_223_846_793_005 &+ 1 } }
    }, begun)
    while sem_wait(begun) != 0 {}
    sem_destroy(begun)
    begun.deallocate()
  }

  /// Level by level, so that the computation's calls do not overlap the last step's frame on the stack.
  @inline(never) private static func prepare(_ cells: UnsafeMutablePointer<UInt64>, level: Int) {
    if level > 0 { prepare(cells, level: level - 1) } else { for step in 0..<4 { take(step, cells) } }
    note(level)
  }

  @inline(never) private static func take(_ step: Int, _ cells: UnsafeMutablePointer<UInt64>) {
    let scratch = calloc(70, MemoryLayout<UInt64>.stride)
    scratch?.storeBytes(of: cells[step], as: UInt64.self)
    mix(scratch, into: cells)
    if !forgets { free(scratch) }
  }

  @inline(never) private static func mix(_ scratch: UnsafeMutableRawPointer?, into cells: UnsafeMutablePointer<UInt64>) {
    cells[0] &+= scratch?.load(as: UInt64.self) ?? 0
  }
}
