final class Work {
  var done: (() -> Void)?
  let number: Int
  init(_ number: Int) { self.number = number }
}

final class Report {
  var refresh: (() -> Void)?
  var lines: [Int] = [4, 5, 6]
}

@inline(never) func perform(_ body: () -> Void) { body() }
