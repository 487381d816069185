// Objects registered in a table of C callbacks, which holds plain pointers, and calls them whether the objects live or not.

/// What a C library keeps: a function, and a pointer to hand to it.
struct CallbackTable {
  struct Entry {
    var function: @convention(c) (UnsafeMutableRawPointer) -> Void
    var context: UnsafeMutableRawPointer
  }

  private var entries: UnsafeMutablePointer<Entry>
  private var count = 0

  init(capacity: Int) { entries = .allocate(capacity: capacity) }

  mutating func add(_ context: UnsafeMutableRawPointer, _ function: @convention(c) (UnsafeMutableRawPointer) -> Void) {
    (entries + count).initialize(to: Entry(function: function, context: context))
    count += 1
  }

  mutating func remove(_ context: UnsafeMutableRawPointer) {
    guard let index = (0..<count).first(where: { entries[$0].context == context }) else { return }
    entries[index] = entries[count - 1]
    count -= 1
  }

  func fire() { for index in 0..<count { entries[index].function(entries[index].context) } }
}

/// Of a size that nothing else has. 11 words: the C library keeps such blocks, beyond seven freed ones, with all but their first word as it was.
final class InvoiceForm {
  private var amounts: (Int, Int, Int, Int, Int, Int, Int, Int) = (1, 2, 3, 4, 5, 6, 7, 8)
  private let unregisters: Bool

  init(unregisters: Bool) { self.unregisters = unregisters }
  deinit { if unregisters { UsedCallbacks.table.remove(Unmanaged.passUnretained(self).toOpaque()) } }

  func register() {
    UsedCallbacks.table.add(Unmanaged.passUnretained(self).toOpaque()) { context in
      UsedCallbacks.current = Unmanaged<InvoiceForm>.fromOpaque(context).takeUnretainedValue()
      UsedCallbacks.current = nil
    }
  }
}

enum UsedCallbacks: FaultyProgram {
  nonisolated(unsafe) fileprivate static var table = CallbackTable(capacity: 16)
  nonisolated(unsafe) fileprivate static var current: InvoiceForm? { didSet { note(current == nil ? 0 : 1) } }

  static func faulty() { pay(unregistering: false) }
  static func correct() { pay(unregistering: true) }

  @inline(never) private static func pay(unregistering: Bool) {
    var closed = forms(7, unregistering)
    var open = forms(3, unregistering)
    for form in open { form.register() }
    table.fire()
    closed = []
    note(closed.count)
    open = []
    note(open.count)
    table.fire()
  }

  @inline(never) private static func forms(_ count: Int, _ unregistering: Bool) -> [InvoiceForm] {
    (0..<count).map { _ in InvoiceForm(unregisters: unregistering) }
  }
}
