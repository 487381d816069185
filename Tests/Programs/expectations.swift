// States when it expects objects to go. The first argument selects the work:
//
// many COUNT: eight threads make COUNT objects in all, each in a scope of its own and expected to go, and each goes.
// leak: expects an object to go within 0.2 s that a global array keeps, and sleeps. Prints the object's address.
// reuse: the same, but the object goes and another takes its address. Prints the address.
// late: three places expect objects that never go, with more objects than images. Waits for the reports.
// fork: forks before and after it expects something; the children expect something, too.
//
// Where it would sleep, it waits for the files go.1, go.2 … in the directory that is its second argument, if it has one.

import Glibc
import LeakTrace

final class Screen {
  var number: Int
  init(_ number: Int) { self.number = number }
}

nonisolated(unsafe) var kept: [Screen] = []

@inline(never) func address(_ screen: Screen) -> UInt { UInt(bitPattern: Unmanaged.passUnretained(screen).toOpaque()) }
func hexadecimal(_ number: UInt) -> String { "0x" + String(number, radix: 16) }

@inline(never) func makeMany(_ count: Int) {
  // Some live a little longer, so that frees are not the mirror of allocations.
  var ring: [Screen?] = Array(repeating: nil, count: 16)
  for i in 0..<count {
    ring[i % 16] = LeakTrace.scope("one of many", grace: .seconds(60)) {
      let screen = Screen(i)
      LeakTrace.expectDeallocated(screen, within: .seconds(60), "one of many")
      return screen
    }
  }
  ring.removeAll()
}

@inline(never) func leakOne() {
  let screen = Screen(1)
  kept.append(screen)
  print(hexadecimal(address(screen)))
  LeakTrace.expectDeallocated(screen, within: .milliseconds(200), "screen closed")
}

@inline(never) func expectOne() -> UInt {
  let screen = Screen(2)
  LeakTrace.expectDeallocated(screen, within: .seconds(1), "screen closed")
  return address(screen)
}

/// Waits without a call that is recorded.
func wait(for step: Int, otherwise milliseconds: UInt32) {
  guard arguments.count > 2 else {
    usleep(milliseconds * 1000)
    return
  }
  let path = strdup("\(arguments[2])/go.\(step)")!
  while access(path, F_OK) != 0 { usleep(1000) }
  free(path)
}

setvbuf(stdout, nil, _IOLBF, 0)
let arguments = CommandLine.arguments
switch arguments.count > 1 ? arguments[1] : "" {
case "many":
  let share = Int(arguments[2])! / 8
  var threads: [pthread_t] = []
  for _ in 0..<8 {
    var thread = pthread_t()
    pthread_create(&thread, nil, { context in
      makeMany(Int(bitPattern: context))
      return nil
    }, UnsafeMutableRawPointer(bitPattern: share))
    threads.append(thread)
  }
  for thread in threads { pthread_join(thread, nil) }
case "leak":
  leakOne()
  wait(for: 1, otherwise: 1500)
case "reuse":
  let first = expectOne()
  for number in 0..<100 {
    let screen = Screen(number)
    kept.append(screen)
    if address(screen) == first { break }
  }
  print(hexadecimal(first), address(kept.last!) == first)
  wait(for: 1, otherwise: 1500)
case "late":
  for number in 0..<1000 {
    let screen = Screen(number)
    kept.append(screen)
    LeakTrace.expectDeallocated(screen, within: .milliseconds(100), "first")
  }
  wait(for: 1, otherwise: 400)
  for name in ["second", "third"] {
    let screen = Screen(0)
    kept.append(screen)
    LeakTrace.expectDeallocated(screen, within: .milliseconds(100), name)
  }
  wait(for: 2, otherwise: 2000)
case "fork":
  for step in 1...2 {
    let child = fork_process()
    leakOne()
    wait(for: step, otherwise: 400)
    if child == 0 { exit(0) }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    print(status)
  }
default: exit(64)
}

/// Swift's module of the C library leaves it out.
func fork_process() -> pid_t {
  let function = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
  return function()
}
