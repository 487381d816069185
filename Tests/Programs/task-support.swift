// What the programs in Tests/Programs/tasks share: counters, a lock, threads, and the end of their set-up.

import Glibc
import Synchronization

final class Counter: Sendable {
    private let value = Atomic<Int>(0)
    func up() { value.add(1, ordering: .sequentiallyConsistent) }
    func down() { value.subtract(1, ordering: .sequentiallyConsistent) }
    var now: Int { value.load(ordering: .sequentiallyConsistent) }
}

/// The result of a task, counted for as long as something keeps it.
final class Tracked: Sendable {
    static let alive = Counter()
    init() { Tracked.alive.up() }
    deinit { Tracked.alive.down() }
}

/// A lock in the style of NSLock.
final class PlainLock: @unchecked Sendable {
    private let raw = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    init() { pthread_mutex_init(raw, nil) }
    func lock() { pthread_mutex_lock(raw) }
    func unlock() { pthread_mutex_unlock(raw) }
}

final class ThreadBody {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
}

@discardableResult
func startThread(_ body: @escaping () -> Void) -> pthread_t {
    var id = pthread_t()
    let argument = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    pthread_create(&id, nil, { p in
        Unmanaged<ThreadBody>.fromOpaque(p!).takeRetainedValue().run()
        return nil
    }, argument)
    return id
}

@inline(never)
func waitUntil(_ what: String, _ condition: () -> Bool) {
    for _ in 0..<12000 {
        if condition() { return }
        usleep(5000)
    }
    print("setup failed: \(what)")
    fflush(nil)
    exit(3)
}

/// True if every thread but the main thread sleeps in the kernel.
func othersAsleep() -> Bool {
    guard let dir = opendir("/proc/self/task") else { return true }
    defer { closedir(dir) }
    let me = Int(getpid()) // called on the main thread only
    while let entry = readdir(dir) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        guard let tid = Int(name), tid != me else { continue }
        let fd = open("/proc/self/task/\(tid)/stat", O_RDONLY)
        if fd < 0 { continue }
        var bytes = [UInt8](repeating: 0, count: 512)
        let n = read(fd, &bytes, 511)
        close(fd)
        guard n > 0, let paren = bytes[0..<n].lastIndex(of: UInt8(ascii: ")")), paren + 2 < n else { continue }
        if bytes[paren + 2] != UInt8(ascii: "S") { return false }
    }
    return true
}

/// Waits until all other threads have been asleep for a while (bounded).
@inline(never)
func settle() {
    var calm = 0
    for _ in 0..<500 {
        usleep(20000)
        calm = othersAsleep() ? calm + 1 : 0
        if calm == 15 { return }
    }
    print("note: threads did not come to rest")
}

@inline(never)
func snapshotAndStay() -> Never {
    if let p = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "leaktrace_snapshot") {
        typealias Snapshot = @convention(c) (UnsafePointer<CChar>) -> Int32
        _ = unsafeBitCast(p, to: Snapshot.self)("now")
    }
    print("ready \(getpid())")
    fflush(nil)
    for _ in 0..<120 { sleep(1) }
    exit(0)
}
