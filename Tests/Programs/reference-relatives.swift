// Calls the less usual ways of taking and giving up a strong reference, COUNT times each, in each of THREADS threads.
// Usage: reference-relatives THREADS COUNT
import Glibc

typealias Object = UnsafeMutableRawPointer
typealias Taking = @convention(c) (Object) -> Object?
typealias Counting = @convention(c) (Object, UInt32) -> Object?
typealias Giving = @convention(c) (Object) -> Void

// Called by name, so that the compiler can neither add nor remove any.
func function<T>(_ name: String, as type: T.Type) -> T { unsafeBitCast(dlsym(nil, name)!, to: type) }
let release = function("swift_release", as: Giving.self)
let retainN = function("swift_retain_n", as: Counting.self)
let releaseN = function("swift_release_n", as: (@convention(c) (Object, UInt32) -> Void).self)
let tryRetain = function("swift_tryRetain", as: Taking.self)
let weakInit = function("swift_weakInit", as: (@convention(c) (Object, Object) -> Object).self)
let weakLoadStrong = function("swift_weakLoadStrong", as: Taking.self)
let weakTakeStrong = function("swift_weakTakeStrong", as: Taking.self)
let unownedRetain = function("swift_unownedRetain", as: Taking.self)
let unownedRelease = function("swift_unownedRelease", as: Giving.self)
let unownedRetainStrong = function("swift_unownedRetainStrong", as: Taking.self)
let unownedRetainStrongAndRelease = function("swift_unownedRetainStrongAndRelease", as: Giving.self)
let nonatomicRetain = function("swift_nonatomic_retain", as: Taking.self)
let nonatomicRelease = function("swift_nonatomic_release", as: Giving.self)
let nonatomicRetainN = function("swift_nonatomic_retain_n", as: Counting.self)
let nonatomicReleaseN = function("swift_nonatomic_release_n", as: (@convention(c) (Object, UInt32) -> Void).self)

final class Marble {
  var number = 0
}

@inline(never) func work(_ count: Int) {
  for _ in 0..<count {
    let object = Unmanaged.passRetained(Marble()).toOpaque()
    _ = retainN(object, 5)
    releaseN(object, 5)
    if tryRetain(object) != nil { release(object) }
    let reference = Object.allocate(byteCount: 8, alignment: 8)
    _ = weakInit(reference, object)
    if let strong = weakLoadStrong(reference) { release(strong) }
    if let strong = weakTakeStrong(reference) { release(strong) }
    reference.deallocate()
    _ = unownedRetain(object)
    if let strong = unownedRetainStrong(object) { release(strong) }
    unownedRelease(object)
    _ = unownedRetain(object)
    unownedRetainStrongAndRelease(object)
    release(object)
    _ = nonatomicRetain(object)
    nonatomicRelease(object)
    _ = nonatomicRetainN(object, 3)
    nonatomicReleaseN(object, 3)
    release(object)
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
