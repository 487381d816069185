import Foundation

enum WebAction: Sendable {
    case disableScroll(Bool)
    case openPage(String)
    case share
}

final class ActionHub: @unchecked Sendable {
    private let lock = NSLock()
    private var listeners: [UUID: AsyncStream<WebAction>.Continuation] = [:]

    var values: AsyncStream<WebAction> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = UUID()
            lock.withLock { listeners[id] = continuation }
            continuation.onTermination = { [weak self] _ in
                guard let self else { return }
                _ = self.lock.withLock { self.listeners.removeValue(forKey: id) }
            }
        }
    }

    func send(_ action: WebAction) {
        let targets = lock.withLock { Array(listeners.values) }
        targets.forEach { $0.yield(action) }
    }

    var listenerCount: Int { lock.withLock { listeners.count } }
}

@MainActor
final class WebPanelModel {
    private let hub: ActionHub
    private var isScrollEnabled = true
    private var openPages: [String] = []
    private(set) var handled = 0

    init(hub: ActionHub) {
        self.hub = hub
    }

    func bind() {
        Task { [weak self] in
            guard let self else { return }
            for await action in self.hub.values {
                self.apply(action)
            }
        }
    }

    private func apply(_ action: WebAction) {
        handled += 1
        switch action {
        case .disableScroll(let disabled): isScrollEnabled = !disabled
        case .openPage(let url): openPages.append(url)
        case .share: break
        }
    }
}

@MainActor
func presentPanels(_ total: Int, hub: ActionHub) async -> Int {
    var handled = 0
    for index in 0..<total {
        let before = hub.listenerCount
        let model = WebPanelModel(hub: hub)
        model.bind()
        while hub.listenerCount == before { await Task.yield() }
        hub.send(index % 2 == 0 ? .disableScroll(true) : .openPage("https://example.org/\(index)"))
        while model.handled == 0 { await Task.yield() }
        handled += model.handled
        try? await Task.sleep(nanoseconds: 4_000_000)
    }
    return handled
}

let hub = ActionHub()
let handled = await presentPanels(70, hub: hub)
print("70 panels handled \(handled) actions")
