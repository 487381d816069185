// assign(to:on:) to the very object that stores the cancellable.

final class MeterScreen {
  private var cancellables: Set<Cancellable> = []
  var reading = 0

  func bind(to subject: Subject<Int>) {
    subject.assign(to: \.reading, on: self).store(in: &cancellables)
  }

  func unbind() { cancellables.removeAll() }
}

enum MeterAssign: FaultyProgram {
  static func faulty() { for value in 0..<8 { open(value) } }
  static func correct() { for value in 0..<8 { openAndUnbind(value) } }

  @inline(never) private static func open(_ value: Int) {
    let subject = Subject<Int>()
    let screen = MeterScreen()
    screen.bind(to: subject)
    subject.send(value)
    note(screen.reading)
  }

  @inline(never) private static func openAndUnbind(_ value: Int) {
    let subject = Subject<Int>()
    let screen = MeterScreen()
    screen.bind(to: subject)
    subject.send(value)
    note(screen.reading)
    screen.unbind()
  }
}
