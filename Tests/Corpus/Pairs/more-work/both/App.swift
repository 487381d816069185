// Without marks: of each twenty jobs one leaks, unless the second argument is 0.

final class Job {
  var retry: (() -> Void)?
  let steps: [Int]
  init(_ steps: Int) { self.steps = Array(0..<steps) }
}

@main enum App {
  static func main() {
    let leaks = argument(2, or: 1) != 0
    for number in 0..<argument(1, or: 1000) { run(number, leaks: leaks) }
  }

  @inline(never) static func run(_ number: Int, leaks: Bool) {
    let job = Job(64)
    job.retry = { note(job.steps.count) }
    job.retry?()
    if !leaks || number % 20 != 0 { job.retry = nil }
  }
}
