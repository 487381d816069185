// Many random programs in one process. Each makes objects and tasks, and some of them leak. Then a heap image is taken.
// Then each program goes on to its end: it uses, resumes and frees all that it can still reach by its own means.
//
// Usage: random-programs LEDGER SEED FIRST COUNT [threads] [print] [wait] [without=OPERATION,…]
//
// LEDGER gets an entry for each object: see `Ledger.Entry`. `threads`: tasks run on the threads of libdispatch, and not
// in order on the main thread. `print`: the operations. `wait`: instead of asking the recorder for an image, the
// process says "standing" to standard error, and waits for SIGUSR1.
//
// Left out, since no analysis of memory can see it: an object whose address only the kernel has, and an address that is
// encoded, so that no row of bytes in memory is the address. Nor is an address at an odd place on a thread's stack: see
// docs/reading-a-report.md.

import Glibc

setvbuf(stdout, nil, _IOLBF, 1 << 12)
var arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 4, let seed = UInt64(arguments[1]), let first = Int(arguments[2]),
  let count = Int(arguments[3])
else { exit(64) }
let options = Set(arguments[4...])
let skipped = Set(
  options.first { $0.hasPrefix("without=") }?.dropFirst(8).split(separator: ",").compactMap { Int($0) } ?? [])

var signals = sigset_t()
sigemptyset(&signals)
sigaddset(&signals, SIGUSR1)
pthread_sigmask(SIG_BLOCK, &signals, nil)
Jobs.install(hasThreads: options.contains("threads"))
Roots.start()

@inline(never) func runPrograms() {
  for number in first..<first + count {
    if options.contains("print") { print("program \(number) of seed \(seed)") }
    var machine = Machine(seed: seed, number: number, skipped: skipped, isPrinting: options.contains("print"))
    machine.run()
  }
}

/// Clears the stack that the programs used, so that no old word of it hides a leak.
@inline(never) func scrub(_ depth: Int) {
  withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { memory in
    memset(memory.baseAddress!, 0, memory.count)
    if depth > 0 { scrub(depth - 1) }
  }
}

func takeImage() {
  if options.contains("wait") {
    _ = "standing\n".withCString { write(STDERR_FILENO, $0, strlen($0)) }
    var signal: Int32 = 0
    sigwait(&signals, &signal)
    return
  }
  typealias Snapshot = @convention(c) (UnsafePointer<CChar>?) -> Int32
  guard let symbol = dlsym(nil, "leaktrace_snapshot") else { return }
  if unsafeBitCast(symbol, to: Snapshot.self)("standing") != 1 { exit(3) }
}

func finishPrograms() {
  Roots.visit()
  Roots.finishThreads()
  repeat {
    Walk.run()
    Jobs.settle()
  } while !Walk.isDone
  Walk.end()
  Roots.clear()
  Jobs.settle()
}

runPrograms()
Jobs.settle()
scrub(32)
Ledger.isAfterImage = true
takeImage()
finishPrograms()
Ledger.write(to: arguments[0])
exit(0)
