@main enum App {
  static func main() {
    for page in 0..<10 { Feed().show(page: page) }
    registerFeeds()
  }
}
