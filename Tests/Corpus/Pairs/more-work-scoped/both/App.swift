// A server that leaks one of five requests, and marks each. The first argument says how many there are.
import LeakTrace

final class Request {
  var completion: (() -> Void)?
  let body: [UInt8]
  init(_ size: Int) { body = Array(repeating: 1, count: size) }
}

@main enum App {
  static func main() {
    for number in 0..<argument(1, or: 100) {
      LeakTrace.scope("request") { serve(number) }
    }
  }

  @inline(never) static func serve(_ number: Int) {
    let request = Request(64)
    request.completion = { note(request.body.count) }
    request.completion?()
    if number % 5 != 0 { request.completion = nil }
  }
}
