// Readers of buffered channels. With "leak", they leave a loop over `buffer(policy:)` early. AsyncAlgorithms 1.1.4 then
// keeps the channel and the task that fills the buffer (apple/swift-async-algorithms#352).
import AsyncAlgorithms

/// The feed of one reader.
final class Subscription: Sendable {
  let events = AsyncChannel<Int>()
}

@main struct StreamReaders {
  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count == 2, ["leak", "clean"].contains(arguments[1]) else { fatalError("usage: stream-readers leak|clean") }
    var sum = 0
    for number in 0..<10 { sum += await read(number, leavingEarly: arguments[1] == "leak") }
    print("sum \(sum)")
  }

  private static func read(_ number: Int, leavingEarly: Bool) async -> Int {
    let subscription = Subscription()
    let sender = Task {
      await subscription.events.send(number)
      if !leavingEarly { subscription.events.finish() }
    }
    var sum = 0
    for await event in subscription.events.buffer(policy: .bounded(1)) {
      sum += event
      if leavingEarly { break }
    }
    await sender.value
    return sum
  }
}
