// A work item, stored in the object that its block captures.
import Dispatch

final class Debouncer {
  private var work: DispatchWorkItem?
  private var flushes = 0

  func schedule() {
    work = DispatchWorkItem { self.flushes += 1 }
  }

  func scheduleWeakly() {
    work = DispatchWorkItem { [weak self] in self?.flushes += 1 }
  }

  func flush() {
    work?.perform()
    note(flushes)
  }
}

enum DebouncedWork: FaultyProgram {
  static func faulty() { for _ in 0..<10 { type() } }
  static func correct() { for _ in 0..<10 { typeWeakly() } }

  @inline(never) private static func type() {
    let debouncer = Debouncer()
    debouncer.schedule()
    debouncer.flush()
  }

  @inline(never) private static func typeWeakly() {
    let debouncer = Debouncer()
    debouncer.scheduleWeakly()
    debouncer.flush()
  }
}
