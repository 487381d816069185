// Two closures of one function leaked in the same way, and one of them leaks no more.

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
      badge.shown = nil
    }
    perform {
      let badge = Badge()
      badge.shown = { badge.count += 2 }
      badge.shown?()
    }
  }
}
