@main enum App {
  static func main() { for number in 0..<60 { load(number) } }
}

@inline(never) func load(_ number: Int) {
  let page = Page()
  page.loaded = { page.links.append(number) }
  page.loaded?()
}
