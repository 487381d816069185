// The function that leaked is fixed; a new function leaks in the same way.

@main enum App {
  static func main() {
    for number in 0..<60 { load(number) }
    for number in 0..<60 { preload(number) }
  }
}

@inline(never) func load(_ number: Int) {
  let page = Page()
  page.loaded = { page.links.append(number) }
  page.loaded?()
  page.loaded = nil
}

@inline(never) func preload(_ number: Int) {
  let page = Page()
  page.loaded = { page.links.append(number * 2) }
  page.loaded?()
}
