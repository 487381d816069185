import LeakTrace

@main enum App {
  static func main() {
    for number in 0..<12 { present(number) }
    LeakTrace.snapshot("end")
  }
}
