import Foundation

enum AppEvent {
    case userRenamed(String)
    case networkChanged(Bool)
}

final class EventBus {
    static let shared = EventBus()
    private var handlers: [Int: (AppEvent) -> Void] = [:]
    private var nextToken = 0

    func subscribe(_ handler: @escaping (AppEvent) -> Void) -> Int {
        nextToken += 1
        handlers[nextToken] = handler
        return nextToken
    }

    func unsubscribe(_ token: Int) {
        handlers.removeValue(forKey: token)
    }

    func post(_ event: AppEvent) {
        for handler in handlers.values { handler(event) }
    }

    var count: Int { handlers.count }
}

class Screen {
    let title: String
    init(title: String) { self.title = title }
    func appear() {}
    func disappear() {}
}

final class ProfileScreen: Screen {
    private var token: Int?
    private(set) var name = ""
    private(set) var updates = 0

    override func appear() {
        token = EventBus.shared.subscribe { event in
            if case let .userRenamed(name) = event {
                self.name = name
                self.updates += 1
            }
        }
    }

    override func disappear() {
        name = ""
    }
}

final class SettingsScreen: Screen {
    private var token: Int?
    private(set) var online = true

    override func appear() {
        token = EventBus.shared.subscribe { [weak self] event in
            if case let .networkChanged(online) = event { self?.online = online }
        }
    }

    override func disappear() {
        if let token { EventBus.shared.unsubscribe(token) }
        token = nil
    }
}

final class Navigator {
    private var current: Screen?

    func show(_ screen: Screen) {
        current?.disappear()
        current = screen
        screen.appear()
    }

    func closeAll() {
        current?.disappear()
        current = nil
    }
}

let navigator = Navigator()
for visit in 0..<40 {
    navigator.show(ProfileScreen(title: "profile \(visit)"))
    EventBus.shared.post(.userRenamed("user \(visit)"))
    navigator.show(SettingsScreen(title: "settings \(visit)"))
    EventBus.shared.post(.networkChanged(visit % 2 == 0))
}
navigator.closeAll()
print("handlers \(EventBus.shared.count)")
