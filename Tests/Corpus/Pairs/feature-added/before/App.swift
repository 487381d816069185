@main enum App {
  static func main() { for _ in 0..<10 { edit() } }
}
