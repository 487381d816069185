import Foundation

extension Notification.Name {
    static let modelDidChange = Notification.Name("shop.model.didChange")
    static let sessionDidExpire = Notification.Name("shop.session.didExpire")
}

final class ShopModel {
    private(set) var items: [String] = []

    func add(_ name: String) {
        items.append(name)
        NotificationCenter.default.post(name: .modelDidChange, object: self)
    }
}

final class TableScreen {
    private let model: ShopModel
    private var rows: [String] = []
    private var tokens: [any NSObjectProtocol] = []
    private(set) var reloads = 0

    init(model: ShopModel) {
        self.model = model
    }

    func didLoad() {
        let center = NotificationCenter.default
        tokens.append(
            center.addObserver(forName: .modelDidChange, object: model, queue: nil) { _ in
                self.reload()
            })
        tokens.append(
            center.addObserver(forName: .sessionDidExpire, object: nil, queue: nil) { _ in
                self.rows.removeAll()
            })
        reload()
    }

    private func reload() {
        rows = model.items.map { "• \($0)" }
        reloads += 1
    }
}

final class Navigator {
    private var stack: [TableScreen] = []

    func push(_ screen: TableScreen) {
        stack.append(screen)
        screen.didLoad()
    }

    func pop() -> Int {
        stack.popLast()?.reloads ?? 0
    }
}

func browse(visits: Int) -> Int {
    let navigator = Navigator()
    var reloads = 0
    for visit in 0..<visits {
        let model = ShopModel()
        navigator.push(TableScreen(model: model))
        for item in 0..<4 {
            model.add("item \(visit)-\(item)")
        }
        reloads += navigator.pop()
        usleep(5_000)
    }
    return reloads
}

print("60 visits, \(browse(visits: 60)) reloads")
