@main enum App {
  static func main() { for number in 0..<10 { run(number) } }

  @inline(never) static func run(_ number: Int) {
    perform {
      let work = Work(number)
      work.done = { note(work.number) }
      use(work)
    }
    perform {
      let report = Report()
      report.refresh = { report.lines.append(number) }
      report.refresh?()
    }
  }
}
