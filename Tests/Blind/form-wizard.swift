import Foundation

final class Attachment: Sendable {
    let name: String
    let bytes: [UInt8]
    init(name: String, size: Int) {
        self.name = name
        bytes = [UInt8](repeating: 7, count: size)
    }
}

@MainActor
final class ProgressFeed {
    private var listeners: [Int: AsyncStream<Int>.Continuation] = [:]
    private var nextKey = 0

    func subscribe() -> AsyncStream<Int> {
        let key = nextKey
        nextKey += 1
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            listeners[key] = continuation
            continuation.onTermination = { [weak self] _ in
                Task { @MainActor in self?.listeners[key] = nil }
            }
        }
    }

    func publish(_ percent: Int) {
        for listener in listeners.values { listener.yield(percent) }
    }
}

@MainActor
final class UploadScreen {
    let attachment: Attachment
    private var task: Task<Void, Never>?
    private(set) var shown = 0

    init(attachment: Attachment) { self.attachment = attachment }

    func appear(feed: ProgressFeed) {
        let updates = feed.subscribe()
        task = Task {
            for await percent in updates { self.show(percent) }
        }
    }

    private func show(_ percent: Int) { shown = max(shown, percent) }

    func stopUpdates() {
        task?.cancel()
        task = nil
    }
}

@MainActor
final class SummaryScreen {
    let lines: [String]
    init(names: [String]) { lines = names.map { "Sent \($0)" } }
}

@MainActor
final class Wizard {
    private let feed = ProgressFeed()
    private var upload: UploadScreen?
    private var summary: SummaryScreen?
    private(set) var sent: [String] = []
    private(set) var abandoned = 0

    func start(_ n: Int) {
        let screen = UploadScreen(attachment: Attachment(name: "photo\(n).jpg", size: 4096))
        upload = screen
        screen.appear(feed: feed)
    }

    func progress(_ percent: Int) { feed.publish(percent) }

    func next() {
        guard let screen = upload else { return }
        screen.stopUpdates()
        sent.append(screen.attachment.name)
        upload = nil
        summary = SummaryScreen(names: sent.suffix(5))
    }

    func back() {
        upload = nil
        abandoned += 1
    }

    func finish() -> Int {
        let count = summary?.lines.count ?? 0
        summary = nil
        return count
    }
}

@main
struct WizardApp {
    @MainActor static func main() async {
        let wizard = Wizard()
        for n in 0..<160 {
            wizard.start(n)
            for percent in [20, 60, 100] {
                wizard.progress(percent)
                try? await Task.sleep(nanoseconds: 1_500_000)
            }
            if n % 8 == 5 {
                wizard.back()
            } else {
                wizard.next()
            }
        }
        try? await Task.sleep(nanoseconds: 50_000_000)
        print("sent \(wizard.sent.count), abandoned \(wizard.abandoned)")
        print("summary lines \(wizard.finish())")
    }
}
