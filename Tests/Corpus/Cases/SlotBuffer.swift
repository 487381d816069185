// A cycle through the tail elements of a managed buffer.

final class SlotBuffer: ManagedBuffer<Int, SlotOwner?> {
  static func make(_ capacity: Int) -> SlotBuffer {
    let buffer = SlotBuffer.create(minimumCapacity: capacity) { _ in 0 } as! SlotBuffer
    buffer.withUnsafeMutablePointers { count, elements in
      elements.initialize(repeating: nil, count: capacity)
      count.pointee = capacity
    }
    return buffer
  }

  func put(_ owner: SlotOwner?, at index: Int) {
    withUnsafeMutablePointerToElements { $0[index] = owner }
  }

  deinit {
    _ = withUnsafeMutablePointers { count, elements in elements.deinitialize(count: count.pointee) }
  }
}

final class SlotOwner {
  private let slots = SlotBuffer.make(6)
  func occupy(_ index: Int) { slots.put(self, at: index) }
  func vacate(_ index: Int) { slots.put(nil, at: index) }
}

enum ManagedSlots: FaultyProgram {
  static func faulty() { for index in 0..<3 { park(index) } }
  static func correct() { for index in 0..<3 { parkAndLeave(index) } }

  @inline(never) private static func park(_ index: Int) {
    let owner = SlotOwner()
    owner.occupy(index)
    note(index)
  }

  @inline(never) private static func parkAndLeave(_ index: Int) {
    let owner = SlotOwner()
    owner.occupy(index)
    note(index)
    owner.vacate(index)
  }
}
