// Makes COUNT objects, retains and releases in each of THREADS threads (1: the main thread alone).
// Usage: reference-calls THREADS COUNT
import Glibc

// Called by name, so that the compiler can neither add nor remove any.
let retain = unsafeBitCast(
  dlsym(nil, "swift_retain"), to: (@convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer).self)
let release = unsafeBitCast(dlsym(nil, "swift_release"), to: (@convention(c) (UnsafeMutableRawPointer) -> Void).self)

final class Marble {
  var number: Int
  init(_ number: Int) { self.number = number }
}

@inline(never) func work(_ count: Int) {
  for number in 0..<count {
    // Escapes, so that it is not put on the stack.
    let object = Unmanaged.passRetained(Marble(number)).toOpaque()
    for _ in 0..<3 { _ = retain(object) }
    for _ in 0..<4 { release(object) }
  }
}

let threads = Int(CommandLine.arguments[1])!
let count = Int(CommandLine.arguments[2])!
if threads == 1 {
  work(count)
} else {
  var handles: [pthread_t] = []
  for _ in 0..<threads {
    var handle = pthread_t()
    pthread_create(&handle, nil, { _ in work(count); return nil }, nil)
    handles.append(handle)
  }
  for handle in handles { pthread_join(handle, nil) }
}
print("\(threads) threads, \(count) objects")
