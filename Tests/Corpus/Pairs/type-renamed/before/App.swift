// A leaking class, a generic class over it, and a class that does not leak.

final class Model {
  var relay: Relay<Model>?
  var values: [Int] = [1, 2, 3]
}

final class Relay<Subject: AnyObject> {
  let subject: Subject
  init(_ subject: Subject) { self.subject = subject }
}

final class LineReader {
  var position = 0
  func read() -> Int { position += 1; return position }
}

nonisolated(unsafe) var readers: [LineReader] = []

@main enum App {
  static func main() {
    for number in 0..<15 { makeModel(number) }
    for _ in 0..<4 { readers.append(makeReader()) }
    note(readers[0].read())
  }

  @inline(never) static func makeModel(_ number: Int) {
    let model = Model()
    model.relay = Relay(model)
    model.values.append(number)
  }

  @inline(never) static func makeReader() -> LineReader { LineReader() }
}
