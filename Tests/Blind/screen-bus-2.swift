import Foundation

enum AppEvent: Hashable { case ticked, accountChanged, themeChanged, lowPower }

final class Subscription {
    private var cancelAction: (() -> Void)?
    init(_ cancelAction: @escaping () -> Void) { self.cancelAction = cancelAction }
    func cancel() {
        cancelAction?()
        cancelAction = nil
    }
    deinit { cancelAction?() }
}

final class EventBus {
    private var handlers: [AppEvent: [Int: () -> Void]] = [:]
    private var oneShots: [AppEvent: [() -> Void]] = [:]
    private var nextID = 0

    func on(_ event: AppEvent, _ handler: @escaping () -> Void) -> Subscription {
        nextID += 1
        let id = nextID
        handlers[event, default: [:]][id] = handler
        return Subscription { [weak self] in self?.handlers[event]?.removeValue(forKey: id) }
    }

    func once(_ event: AppEvent, _ handler: @escaping () -> Void) {
        oneShots[event, default: []].append(handler)
    }

    func emit(_ event: AppEvent) {
        handlers[event]?.values.forEach { $0() }
        let pending = oneShots.removeValue(forKey: event) ?? []
        pending.forEach { $0() }
    }
}

final class ScreenModel {
    var rows: [String]
    var refreshes = 0
    init(title: String) { rows = (0..<12).map { "\(title) row \($0)" } }
}

final class Screen {
    let title: String
    let model: ScreenModel
    private var subscriptions: [Subscription] = []
    private var accent = "blue"

    init(title: String) {
        self.title = title
        self.model = ScreenModel(title: title)
    }

    func appear(on bus: EventBus, showsPreview: Bool) {
        subscriptions.append(bus.on(.ticked) { [weak self] in self?.model.refreshes += 1 })
        subscriptions.append(bus.on(.accountChanged) { [weak self] in self?.model.rows.removeAll() })
        if showsPreview {
            bus.once(.themeChanged) { self.repaint() }
        }
        bus.once(.ticked) { self.repaint() }
    }

    func disappear() {
        subscriptions.forEach { $0.cancel() }
        subscriptions.removeAll()
    }

    private func repaint() { accent = accent == "blue" ? "teal" : "blue" }
}

let bus = EventBus()
var refreshes = 0
let home = Screen(title: "home")
home.appear(on: bus, showsPreview: false)
bus.emit(.themeChanged)
for step in 0..<50 {
    var stack: [Screen] = []
    for n in 0..<8 {
        let number = step * 8 + n
        let screen = Screen(title: "detail-\(number)")
        screen.appear(on: bus, showsPreview: number % 25 == 14)
        stack.append(screen)
    }
    bus.emit(.ticked)
    refreshes += stack.reduce(0) { $0 + $1.model.refreshes }
    Thread.sleep(forTimeInterval: 0.02)
    stack.forEach { $0.disappear() }
}
print("refreshes \(refreshes), home \(home.model.refreshes)")
