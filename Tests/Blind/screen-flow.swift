import Foundation

final class HeaderView {
    var title: String
    var badge = 0
    init(title: String) { self.title = title }
}

class ViewModel {
    var onChange: (() -> Void)?
    func load() { onChange?() }
}

final class ContactListModel: ViewModel {
    private(set) var names: [String] = []
    override func load() {
        names = (0..<8).map { "Contact \($0)" }
        super.load()
    }
}

final class ContactFormModel: ViewModel {
    var fields: [String: String] = [:]
    var isValid: Bool { fields["name"] != nil && fields["phone"] != nil }
    func type(_ value: String, into field: String) {
        fields[field] = value
        onChange?()
    }
}

class Screen {
    let header: HeaderView
    private(set) var drawn = 0
    init(title: String) { header = HeaderView(title: title) }
    func appear() {}
    func disappear() {}
    func redraw() { drawn += 1 }
}

final class ListScreen: Screen {
    private let model = ContactListModel()
    override func appear() {
        model.onChange = { [weak self] in self?.redraw() }
        model.load()
        header.badge = model.names.count
    }
}

final class DetailScreen: Screen {
    private let model = ViewModel()
    override func appear() {
        model.onChange = { [unowned self] in self.redraw() }
        model.load()
    }
    override func disappear() { model.onChange = nil }
}

final class EditScreen: Screen {
    let model = ContactFormModel()
    private(set) var saveEnabled = false

    override func appear() {
        model.onChange = {
            self.saveEnabled = self.model.isValid
            self.redraw()
        }
    }

    func fill(_ n: Int) {
        model.type("Name \(n)", into: "name")
        model.type("555-\(1000 + n)", into: "phone")
    }
}

final class Navigator {
    private var stack: [Screen] = []
    private(set) var redraws = 0
    private(set) var saved = 0

    init(root: Screen) {
        stack.append(root)
        root.appear()
    }

    func push(_ screen: Screen) {
        stack.append(screen)
        screen.appear()
    }

    func pop() {
        guard stack.count > 1, let top = stack.popLast() else { return }
        top.disappear()
        redraws += top.drawn
        if let edit = top as? EditScreen, edit.saveEnabled { saved += 1 }
    }
}

let navigator = Navigator(root: ListScreen(title: "Home"))
for visit in 0..<250 {
    navigator.push(ListScreen(title: "Group \(visit % 12)"))
    navigator.push(DetailScreen(title: "Contact \(visit)"))
    if visit % 5 == 3 {
        let edit = EditScreen(title: "Edit \(visit)")
        navigator.push(edit)
        edit.fill(visit)
        usleep(1000)
        navigator.pop()
    }
    usleep(2500)
    navigator.pop()
    navigator.pop()
}
print("redraws \(navigator.redraws)")
print("saved \(navigator.saved)")
