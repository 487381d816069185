// An unsafe continuation that is dropped without being resumed.

final class LocationRequest: @unchecked Sendable {
  private let accuracy = 10

  func locate() async -> Int {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Int, Never>) in
      if accuracy > 10 { continuation.resume(returning: accuracy) }
    }
  }

  func locateAlways() async -> Int {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Int, Never>) in continuation.resume(returning: accuracy) }
  }
}

enum LostUnsafeContinuation: FaultyProgram {
  static func faulty() {
    for _ in 0..<4 { request() }
    settle()
  }

  static func correct() {
    for _ in 0..<4 { requestAndAnswer() }
    settle()
  }

  @inline(never) private static func request() {
    let request = LocationRequest()
    Task.detached { note(await request.locate()) }
  }

  @inline(never) private static func requestAndAnswer() {
    let request = LocationRequest()
    Task.detached { note(await request.locateAlways()) }
  }
}
