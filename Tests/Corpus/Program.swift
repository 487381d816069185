// The protocols of the corpus's programs, and a barrier against the optimiser.
import Glibc

/// A program that is correct: all that it leaves behind is reachable.
protocol CleanProgram {
  static func correct()
}

/// A program with a fault, and the same program without it.
protocol FaultyProgram: CleanProgram {
  static func faulty()
}

/// The sum of the programs' results. It is a side effect, so that the optimiser removes no work.
nonisolated(unsafe) private var workDone = 0

nonisolated(unsafe) private var lastUsed: AnyObject?

@inline(never) func note(_ value: Int) { workDone = workDone &* 31 &+ value }

/// Lets an object escape, so that the optimiser allocates it in the heap.
@inline(never) func use(_ object: AnyObject) {
  if workDone == .min { lastUsed = object }
}

/// Runs asynchronous work to its end, from a thread that has nothing else to do.
@inline(never) func waitFor(_ work: @escaping @Sendable () async -> Void) {
  // The C library's semaphore: Dispatch would load a library besides the runtime.
  nonisolated(unsafe) let done = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  sem_init(done, 0, 0)
  Task.detached {
    await work()
    sem_post(done)
  }
  while sem_wait(done) != 0 {}
  // The task still has to end.
  settle()
  sem_destroy(done)
  done.deallocate()
}

/// Waits until work on other threads has ended, or has come to where it stays: until all of them have been asleep for a while, however slow the machine is.
@inline(never) func settle() {
  var quiet = 0
  for _ in 0..<2500 where quiet < 5 {
    usleep(4000)
    quiet = othersSleep() ? quiet + 1 : 0
  }
}

/// Whether no other thread of the process runs or is about to, as far as one look tells. Makes no objects.
private func othersSleep() -> Bool {
  guard let tasks = opendir("/proc/self/task") else { return true }
  defer { closedir(tasks) }
  var awake = 0
  while let entry = readdir(tasks) {
    let runs = withUnsafePointer(to: &entry.pointee.d_name) { name in
      name.withMemoryRebound(to: CChar.self, capacity: 256) { name in
        // The directory itself and the one above it are no numbers.
        atoi(name) > 0 && isAwake(openat(dirfd(tasks), name, O_RDONLY | O_DIRECTORY))
      }
    }
    if runs { awake += 1 }
  }
  // The calling thread is awake itself.
  return awake <= 1
}

/// Whether a thread, given by its directory in /proc, is not asleep. Closes the directory. A thread that has exited has none.
private func isAwake(_ directory: Int32) -> Bool {
  if directory < 0 { return false }
  defer { close(directory) }
  let file = openat(directory, "stat", O_RDONLY)
  if file < 0 { return false }
  defer { close(file) }
  // The state follows the name in brackets.
  return withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { text in
    let length = read(file, text.baseAddress!, text.count)
    var index = length - 3
    while index >= 0, text[index] != UInt8(ascii: ")") { index -= 1 }
    return index >= 0 && text[index + 2] != UInt8(ascii: "S")
  }
}
