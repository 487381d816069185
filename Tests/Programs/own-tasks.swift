// Asks the library for the program's own tasks while threads work, and prints the changes of the process after
// the calls.
// Arguments: the directory for the answers, and how the program watches its children: "plain", "handled", "ignored" or
// "reaped".

import Dispatch
import Glibc
import LeakTrace
import Synchronization

final class Inbox: Sendable {
  private let waiters = Mutex<[CheckedContinuation<Int, Never>]>([])
  func next() async -> Int {
    await withCheckedContinuation { continuation in waiters.withLock { $0.append(continuation) } }  // at: next
  }
  var count: Int { waiters.withLock { $0.count } }
}

let inbox = Inbox()
let dropped = Atomic<Int>(0)
let signals = Atomic<Int>(0)
let rounds = Atomic<Int>(0)
let reaped = Atomic<Int>(0)
let isOver = Atomic<Bool>(false)

@inline(never) func drop() async -> Int {
  await withUnsafeContinuation { (_: UnsafeContinuation<Int, Never>) in
    dropped.add(1, ordering: .sequentiallyConsistent)
  }
}

/// Everything about the process that another program could have changed: dispositions, blocked signals, descriptors,
/// children, threads.
func state() -> [String] {
  var lines: [String] = []
  for signal in 1..<Int32(65) {
    var action = sigaction()
    if sigaction(signal, nil, &action) == 0 {
      lines.append("\(signal): \(unsafeBitCast(action.__sigaction_handler, to: UInt.self)) \(action.sa_flags)")
    }
  }
  func text(_ path: String) -> [String] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 4096)
    var found: [String] = []
    while fgets(&buffer, 4096, file) != nil { found.append(String(cString: buffer)) }
    return found
  }
  lines += text("/proc/thread-self/status").filter { $0.hasPrefix("Sig") && !$0.hasPrefix("SigQ") || $0.hasPrefix("Shd") }
  for task in entries("/proc/self/task") { lines += text("/proc/self/task/\(task)/children").map { "child \($0)" } }
  lines += entries("/proc/self/fd").sorted()
  return lines
}

func entries(_ path: String) -> [String] {
  guard let directory = opendir(path) else { return [] }
  let own = "\(dirfd(directory))"
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if !name.hasPrefix("."), name != own { names.append(name) }
  }
  return names
}

func save(_ bytes: [UInt8]?, _ name: String) -> String {
  guard let bytes else { return "no \(name)" }
  let file = fopen(CommandLine.arguments[1] + "/" + name, "w")!
  fwrite(bytes, 1, bytes.count, file)
  fclose(file)
  return name
}

// The program inherits orphans, as the first process of a container does.
becomeSubreaper()
switch CommandLine.arguments[2] {
case "handled": signal(SIGCHLD) { _ in signals.add(1, ordering: .relaxed) }
case "ignored": signal(SIGCHLD, SIG_IGN)
case "reaped":
  // A thread that waits for all children, as a supervisor does.
  Thread.detach { while !isOver.load(ordering: .relaxed) { if wait(nil) > 0 { reaped.add(1, ordering: .relaxed) } else { usleep(100) } } }
default: break
}

/// A thread of the C library.
enum Thread {
  final class Body { let run: () -> Void; init(_ run: @escaping () -> Void) { self.run = run } }
  static func detach(_ body: @escaping () -> Void) {
    var thread = pthread_t()
    pthread_create(&thread, nil, { Unmanaged<Body>.fromOpaque($0!).takeRetainedValue().run(); return nil },
      Unmanaged.passRetained(Body(body)).toOpaque())
    pthread_detach(thread)
  }
}

for _ in 0..<7 { Task { await inbox.next() } }
for _ in 0..<3 { Task { await drop() } }
for _ in 0..<2 { Task { try? await Task.sleep(nanoseconds: 1_000_000_000_000) } }
while inbox.count < 7 || dropped.load(ordering: .sequentiallyConsistent) < 3 { usleep(1000) }
usleep(200_000)
// A thread that works with memory, as requests do.
Thread.detach {
  while !isOver.load(ordering: .relaxed) {
    let block = malloc(64)
    rounds.add(1, ordering: .relaxed)
    free(block)
    usleep(50)
  }
}
let before = state()
let first = rounds.load(ordering: .relaxed)
let list = LeakTrace.taskList()
print(
  save(list, "tasks.json"), save(LeakTrace.taskProfile(), "tasks.pb.gz"),
  save(LeakTrace.taskLeakProfile(), "taskleak.pb.gz"))
if list != nil { print(rounds.load(ordering: .relaxed) > first ? "others went on" : "others stood still") }
// Callers at the same time.
let group = DispatchGroup()
let answers = Atomic<Int>(0)
for _ in 0..<2 {
  group.enter()
  Thread.detach {
    if LeakTrace.taskList() != nil { answers.add(1, ordering: .sequentiallyConsistent) }
    group.leave()
  }
}
group.wait()
print("\(answers.load(ordering: .sequentiallyConsistent)) at the same time")
let after = state()
for line in Set(before).symmetricDifference(after).sorted() { print("changed: \(line)") }
print("\(signals.load(ordering: .relaxed)) signals, \(reaped.load(ordering: .relaxed)) reaped")
// A child of fork asks for itself.
fflush(stdout)
let child = fork_()
if child == 0 { _exit(LeakTrace.taskList() == nil ? 1 : 0) }
var status: Int32 = 0
if CommandLine.arguments[2] == "plain" || CommandLine.arguments[2] == "handled" {
  let ended = waitpid(child, &status, 0)
  print(ended == child && status == 0 ? "a child has tasks" : "a child has no tasks")
}
isOver.store(true, ordering: .relaxed)

/// Swift does not import these functions.
func fork_() -> pid_t {
  typealias Fork = @convention(c) () -> pid_t
  return unsafeBitCast(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork"), to: Fork.self)()
}

func becomeSubreaper() {
  typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
  let control = unsafeBitCast(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "prctl"), to: Control.self)
  _ = control(36, 1, 0, 0, 0)  // PR_SET_CHILD_SUBREAPER
}
