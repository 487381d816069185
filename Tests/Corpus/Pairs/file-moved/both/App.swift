@main enum App {
  static func main() { for number in 0..<10 { play(number) } }
}
