// The program: a user goes through all screens, ROUNDS times. Usage: feed-client [ROUNDS]
import Foundation

@main enum FeedClient {
  static func main() {
    let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 20
    let session = Session()
    let navigator = Navigator(session: session)
    for _ in 0..<rounds {
      visit(navigator)
      // Timers fire and tasks run in the meantime.
      RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.005))
      while navigator.depth > 0 { navigator.close() }
    }
    // Wait until the cancelled work has ended.
    let deadline = Date(timeIntervalSinceNow: 2)
    while Census.shared.report.contains(where: { $0.1 > 0 && $0.1 < rounds }), Date() < deadline {
      RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.01))
    }
    print("\(rounds) rounds; alive now:")
    for (type, count) in Census.shared.report { print("  \(count) \(type)") }
  }

  private static func visit(_ navigator: Navigator) {
    navigator.open("Timeline", TimelineViewModel.self)
    navigator.open("Profile", ProfileViewModel.self)
    navigator.open("Conversation", ConversationViewModel.self)
    navigator.open("Who is there", PresenceViewModel.self)
  }
}
