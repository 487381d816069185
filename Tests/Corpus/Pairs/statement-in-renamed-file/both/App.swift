import Glibc

@main enum App {
  static func main() {
    for number in 0..<12 { present(number) }
    // The time of the expectations is over.
    usleep(600_000)
  }
}
