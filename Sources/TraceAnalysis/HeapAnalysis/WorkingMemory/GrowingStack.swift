// A growing stack for algorithms that must not recurse, and for tables of unknown size.

import Glibc

/// A stack of plain values. Unlike an array, a stack checks nothing in release builds and is never copied. A large
/// stack grows by remapping pages, so growth needs no second copy in memory.
struct GrowingStack<Element: BitwiseCopyable>: ~Copyable {
  private(set) var start: UnsafeMutablePointer<Element>
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int = 64) {
    self.capacity = max(1, capacity)
    start = Self.resize(nil, to: self.capacity)
  }

  deinit { free(start) }

  var isEmpty: Bool { @inline(__always) get { count == 0 } }

  @inline(__always)
  mutating func push(_ element: Element) {
    if count == capacity { grow() }
    start[count] = element
    count &+= 1
  }

  /// Removes the last element; there must be one.
  @inline(__always)
  mutating func pop() -> Element {
    assert(count > 0)
    count &-= 1
    return start[count]
  }

  /// Removes the elements beyond the first `newCount`.
  @inline(__always)
  mutating func truncate(to newCount: Int) {
    assert(newCount <= count)
    count = newCount
  }

  /// Returns the memory. The caller must free it with `free`.
  consuming func release() -> (start: UnsafeMutablePointer<Element>, count: Int) {
    let result = (start, count)
    discard self
    return result
  }

  @inline(never)
  private mutating func grow() {
    capacity += max(64, capacity / 2)
    start = Self.resize(start, to: capacity)
  }

  private static func resize(_ memory: UnsafeMutablePointer<Element>?, to capacity: Int) -> UnsafeMutablePointer<
    Element
  > {
    guard let resized = realloc(memory, capacity * MemoryLayout<Element>.stride) else {
      preconditionFailure("no memory for a stack of \(capacity) elements")
    }
    return resized.bindMemory(to: Element.self, capacity: capacity)
  }
}
