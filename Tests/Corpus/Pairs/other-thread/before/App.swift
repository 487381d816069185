@main enum App {
  static func main() { send(25) }
}
