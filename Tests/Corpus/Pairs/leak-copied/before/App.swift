@main enum App {
  static func main() { for text in 0..<10 { search(text) } }
}
