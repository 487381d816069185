// Threads that wait or run in all kinds of places: in a call, in a signal handler on its own stack, in code without
// rules for unwinding, in a deep recursion, and computing. Each holds an object on its stack alone.
// Prints "ready PROCESS".

import Glibc

final class Held {
  let number: Int
  init(_ number: Int) { self.number = number }
}

nonisolated(unsafe) var ready = 0
let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
pthread_mutex_init(lock, nil)

func countUp() {
  pthread_mutex_lock(lock)
  ready += 1
  pthread_mutex_unlock(lock)
}

/// Keeps an object on the caller's stack until the process ends.
@inline(never) func waitHolding(_ number: Int) {
  let held = Held(number)
  withExtendedLifetime(held) {
    countUp()
    while true { sleep(1000) }
  }
}

@inline(never) func standInCall() { waitHolding(1) }

@inline(never) func recurse(_ depth: Int) -> Int {
  if depth == 0 { waitHolding(2) }
  return recurse(depth - 1) &+ depth
}

@inline(never) func compute() {
  var value = UInt64(1)
  countUp()
  while true { value = value &* 6_364_136_223_846_793_005 &+ 1 }
}

/// Runs in the handler.
func standInHandler() { waitHolding(3) }

func interrupted() {
  countUp()
  while true { sleep(1000) }
}

/// Calls a function from code that was made at run time: push rbp; mov rbp, rsp; call rdi; pop rbp; ret.
func throughMadeCode() {
  typealias Plain = @convention(c) () -> Void
  let page = mmap(nil, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
  page.copyMemory(from: [UInt8]([0x55, 0x48, 0x89, 0xE5, 0xFF, 0xD7, 0x5D, 0xC3]), byteCount: 8)
  let made = unsafeBitCast(page, to: (@convention(c) (Plain) -> Void).self)
  made { standBehindMadeCode() }
}

func standBehindMadeCode() { waitHolding(4) }

/// glibc declares it only for programs that ask for its extensions.
@_silgen_name("pthread_setname_np") func setName(_ thread: pthread_t, _ name: UnsafePointer<CChar>) -> CInt

func start(
  _ name: String, stackSize: Int = 0,
  _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
) -> pthread_t {
  var thread = pthread_t()
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  if stackSize > 0 { pthread_attr_setstacksize(&attributes, stackSize) }
  pthread_create(&thread, &attributes, body, nil)
  _ = setName(thread, name)
  return thread
}

_ = start("in-call") { _ in
  standInCall()
  return nil
}
_ = start("deep", stackSize: 64 << 20) { _ in
  // More than are kept.
  _ = recurse(6000)
  return nil
}
_ = start("computing") { _ in
  compute()
  return nil
}
let signalled = start("interrupted") { _ in
  var stack = stack_t()
  stack.ss_sp = malloc(1 << 16)
  stack.ss_size = 1 << 16
  sigaltstack(&stack, nil)
  interrupted()
  return nil
}
_ = start("made-code") { _ in
  throughMadeCode()
  return nil
}
func waitFor(_ count: Int) {
  while true {
    pthread_mutex_lock(lock)
    let reached = ready >= count
    pthread_mutex_unlock(lock)
    if reached { return }
    usleep(1000)
  }
}
waitFor(5)
var action = sigaction()
action.__sigaction_handler.sa_handler = { _ in standInHandler() }
action.sa_flags = SA_ONSTACK
sigaction(SIGUSR1, &action, nil)
pthread_kill(signalled, SIGUSR1)
waitFor(6)
print("ready \(getpid())")
fflush(stdout)
while true { sleep(1000) }
