// Does the same work in variants: one holds more, one allocates more at one place.

final class Session {
  let number: Int
  let buffer: [UInt8]

  init(_ number: Int) {
    self.number = number
    buffer = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 4096)
  }
}

final class Registry {
  var sessions: [Session] = []
  /// Filled by the variant "holds" alone, and never emptied.
  var archive: [Session] = []
  var page: Page?
}

final class Page {
  var next: Page?
  var text = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}

let registry = Registry()

@inline(never) func openSessions() {
  for number in 0..<2000 { registry.sessions.append(Session(number)) }
}

@inline(never) func archiveSessions() {
  for number in 0..<4000 { registry.archive.append(Session(number)) }
}

/// Makes `count` pages, and keeps the last one.
@inline(never) func render(_ count: Int) -> Int {
  for number in 0..<count {
    let page = Page()
    page.text.0 = number
    registry.page = page
  }
  return registry.page?.text.0 ?? 0
}

@inline(never) func summarize(_ count: Int) -> Int {
  var sum = 0
  for number in 0..<count { sum &+= [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 512).count }
  return sum
}

let variant = CommandLine.arguments.dropFirst().first ?? "plain"
openSessions()
if variant == "holds" { archiveSessions() }
let rendered = render(variant == "allocates" ? 400_000 : 100_000)
print(registry.sessions.count, registry.archive.count, rendered, summarize(50_000))
