// Memory that is deallocated with objects in it.

final class Frame {
  let number: Int
  init(_ number: Int) { self.number = number }
}

final class Ring {
  private let slots: UnsafeMutablePointer<Frame>
  private let count: Int

  init(of count: Int) {
    self.count = count
    slots = .allocate(capacity: count)
    for number in 0..<count { (slots + number).initialize(to: Frame(number)) }  // to change
  }

  deinit {
    #if MENDED
      slots.deinitialize(count: count)
    #endif
    slots.deallocate()
  }

  @inline(never) func newest() -> Int { slots[count - 1].number }

  @inline(never) static func record() {
    for count in 2..<5 where Ring(of: count).newest() > 100 { print(count) }
  }
}
