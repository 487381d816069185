// Random programs: streams of events that allocate, free, retain and release.

@testable import TraceReading

/// The parameters of a random program.
package struct RandomHeap {
  package var seed: UInt64
  package var threads: UInt32 = 1
  package var events = 2000
  package var sites = 20
  /// One event in this many contradicts the others: the free of an unknown block, or an allocation over a live block. 0
  /// means none.
  package var oddOneIn: UInt64 = 0
  /// The approximate number of live blocks.
  package var liveBlocks = 100

  package init(seed: UInt64) { self.seed = seed }

  /// Returns a builder with the events, and the same events in the order of time. The time grows by 8 ticks with every
  /// event.
  package func build() -> (builder: TraceBuilder, inOrder: [TraceEvent]) {
    var random = SeededRandom(seed: seed)
    var builder = TraceBuilder()
    let image: Range<UInt64> = 0x40_0000..<0x50_0000
    builder.image("/app", image)
    let stacks = (0..<sites).map { _ in
      builder.stack((0..<Int.random(in: 1...6, using: &random)).map { _ in UInt64.random(in: image, using: &random) })
    }
    let types = (0..<5).map { builder.type("App.Type\($0)") }
    var live: [UInt64] = []
    var order: [TraceEvent] = []
    var time: UInt64 = 800
    let heap: UInt64 = 0x7F00_0000_0000
    func add(_ event: TraceEvent) {
      var event = event
      time += random.oneIn(4) ? 8 * UInt64.random(in: 1...1000, using: &random) : 8
      event.time = time
      event.thread = UInt32.random(in: 1...threads, using: &random)
      builder.append(event)
      order.append(event)
    }
    let allocations: [Operation] = [
      .object, .object, .object, .malloc, .calloc, .realloc, .posixMemalign, .operatorNew,
    ]
    let references: [Operation] = [
      .retain, .retain, .release, .release, .retainN, .releaseN, .tryRetain, .unownedRetain, .unownedRelease,
    ]
    while order.count < events {
      let stack = stacks.randomElement(using: &random)!
      if oddOneIn > 0, random.oneIn(oddOneIn) {
        switch random.next() % 4 {
        case 0: add(TraceEvent(operation: .free, address: heap - 16 * (1 + random.next() % 1000), stack: stack))
        case 1: add(TraceEvent(operation: .retain, address: heap - 16 * (1 + random.next() % 1000), stack: stack))
        case 2 where !live.isEmpty:
          add(
            TraceEvent(
              operation: .malloc, address: live.randomElement(using: &random)!, size: random.next() % 100, stack: stack)
          )
        default:
          add(TraceEvent(operation: .reallocFailed, address: heap - 16 * (1 + random.next() % 1000), stack: stack))
        }
        continue
      }
      let choice = random.next() % 10
      if choice < 3 || live.isEmpty || (choice < 4 && live.count < liveBlocks) {
        let operation = allocations.randomElement(using: &random)!
        var address: UInt64
        repeat { address = heap + 16 * (random.next() % UInt64(liveBlocks * 4)) } while live.contains(address)
        live.append(address)
        let size = random.oneIn(3) ? random.next() % 100_000 : UInt64(16 << (random.next() % 5))
        add(
          TraceEvent(
            operation: operation, address: address, size: size,
            type: operation == .object ? types.randomElement(using: &random)! : 0,
            stack: stack))
      } else if choice < 6 || live.count > liveBlocks {
        let address = live.remove(at: Int.random(in: live.indices, using: &random))
        if random.oneIn(10) {
          add(TraceEvent(operation: .reallocFree, address: address, stack: stack))
        } else {
          add(TraceEvent(operation: .free, address: address, stack: stack))
        }
      } else {
        let operation = references.randomElement(using: &random)!
        add(
          TraceEvent(
            operation: operation, address: live.randomElement(using: &random)!,
            size: operation.hasCount ? UInt64.random(in: 1...5, using: &random) : 0, stack: stack))
      }
    }
    return (builder, order)
  }
}
