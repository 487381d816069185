// Two closures of one function leak in the same way.

final class Badge {
  var shown: (() -> Void)?
  var count = 1
}

@inline(never) func perform(_ body: () -> Void) { body() }

@main enum App {
  static func main() { for _ in 0..<10 { show() } }

  @inline(never) static func show() {
    perform {
      let badge = Badge()
      badge.shown = { badge.count += 1 }
      badge.shown?()
    }
    perform {
      let badge = Badge()
      badge.shown = { badge.count += 2 }
      badge.shown?()
    }
  }
}
