// Allocates in signal handlers: raised by the program itself, and by a timer that interrupts retains and releases.
import Glibc

// Called by name, so that the compiler can neither add nor remove any.
let retain = unsafeBitCast(
  dlsym(nil, "swift_retain"), to: (@convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer).self)
let release = unsafeBitCast(dlsym(nil, "swift_release"), to: (@convention(c) (UnsafeMutableRawPointer) -> Void).self)
let allocate = unsafeBitCast(dlsym(nil, "malloc"), to: (@convention(c) (Int) -> UnsafeMutableRawPointer).self)
let free = unsafeBitCast(dlsym(nil, "free"), to: (@convention(c) (UnsafeMutableRawPointer) -> Void).self)

final class Marble {}
nonisolated(unsafe) var handled = 0

// The loop below does not call malloc, so that the handler may.
signal(SIGUSR1) { _ in
  free(allocate(123))
  handled += 1
}
signal(SIGPROF) { _ in
  free(allocate(321))
  handled += 1
}

for _ in 0..<1000 { raise(SIGUSR1) }
print("raised: \(handled)")

let object = Unmanaged.passRetained(Marble()).toOpaque()
handled = 0
var interval = itimerval(it_interval: timeval(tv_sec: 0, tv_usec: 500), it_value: timeval(tv_sec: 0, tv_usec: 500))
setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &interval, nil)
while handled < 200 {
  for _ in 0..<100 { _ = retain(object) }
  for _ in 0..<100 { release(object) }
}
interval = itimerval()
setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &interval, nil)
print("interrupted often enough: \(handled >= 200)")
release(object)
