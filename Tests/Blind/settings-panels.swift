import Foundation

protocol PanelDelegate: AnyObject {
    func panel(_ panel: Panel, didChange key: String, to value: Int)
}

final class Preference {
    let key: String
    var value: Int
    init(key: String, value: Int) {
        self.key = key
        self.value = value
    }
}

final class Toggle {
    let preference: Preference
    var action: ((Toggle) -> Void)?
    init(preference: Preference) { self.preference = preference }
    func tap() {
        preference.value = 1 - preference.value
        action?(self)
    }
}

class Panel {
    let title: String
    weak var delegate: (any PanelDelegate)?
    fileprivate(set) var toggles: [Toggle] = []

    init(title: String, preferences: [Preference]) {
        self.title = title
        toggles = preferences.map { Toggle(preference: $0) }
        for toggle in toggles {
            toggle.action = { [weak self] toggle in
                guard let self else { return }
                self.delegate?.panel(self, didChange: toggle.preference.key, to: toggle.preference.value)
            }
        }
    }
}

final class DialogPanel: Panel {
    private var completion: ((Bool) -> Void)?

    func present(_ completion: @escaping (Bool) -> Void) { self.completion = completion }

    func dismiss(accepted: Bool) {
        let callback = completion
        completion = nil
        callback?(accepted)
    }
}

final class ChangeRecord {
    let key: String
    let value: Int
    let panel: String
    init(key: String, value: Int, panel: String) {
        self.key = key
        self.value = value
        self.panel = panel
    }
}

final class SettingsWindow: PanelDelegate {
    private let preferences: [Preference]
    private var pages: [Int: Panel] = [:]
    private var dialog: DialogPanel?
    private var recent: [ChangeRecord] = []
    private(set) var accepted = 0
    private(set) var changes = 0

    init(preferences: [Preference]) { self.preferences = preferences }

    func page(_ index: Int) -> Panel {
        if let existing = pages[index] { return existing }
        let slice = preferences.enumerated().filter { $0.offset % 12 == index }.map(\.element)
        let created = Panel(title: "Page \(index)", preferences: slice)
        created.delegate = self
        pages[index] = created
        return created
    }

    func ask(_ question: Int) {
        let panel = DialogPanel(title: "Question \(question)", preferences: [preferences[question % preferences.count]])
        panel.delegate = self
        dialog = panel
        panel.present { ok in
            if ok { self.accepted += 1 }
            panel.toggles.first?.tap()
        }
        panel.dismiss(accepted: question % 3 != 0)
        dialog = nil
    }

    func panel(_ panel: Panel, didChange key: String, to value: Int) {
        changes += 1
        recent.append(ChangeRecord(key: key, value: value, panel: panel.title))
        if recent.count > 30 { recent.removeFirst() }
    }

    func undoRecent() -> Int {
        for record in recent.reversed() {
            preferences.first { $0.key == record.key }?.value = 1 - record.value
        }
        return recent.count
    }
}

let window = SettingsWindow(preferences: (0..<60).map { Preference(key: "option.\($0)", value: $0 % 2) })
for step in 0..<400 {
    let page = window.page(step / 34 % 12)
    page.toggles[step % page.toggles.count].tap()
    if step % 2 == 0 { window.ask(step) }
    usleep(2000)
}
print("changes \(window.changes), accepted \(window.accepted)")
print("undone \(window.undoRecent())")
