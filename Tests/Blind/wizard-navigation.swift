import Foundation

class Screen {
    let title: String
    init(title: String) { self.title = title }

    func present() { Navigation.shared.push(self) }
    func dismiss() { Navigation.shared.pop() }
}

final class FormField {
    let name: String
    var value = ""
    init(name: String) { self.name = name }
}

final class WizardScreen: Screen {
    private let fields: [FormField]

    init(step: Int, wizard: String) {
        fields = ["first", "second"].map { FormField(name: "\(wizard).\(step).\($0)") }
        super.init(title: "\(wizard) step \(step)")
    }

    override func present() {
        super.present()
        Navigation.shared.history.append(self)
    }

    func fill(_ text: String) { for field in fields { field.value = text + field.name } }
    func collect() -> Int { fields.reduce(0) { $0 + $1.value.count } }
}

final class AlertScreen: Screen {
    private(set) var confirmed = false
    func confirm() {
        confirmed = true
        dismiss()
    }
}

final class Navigation {
    static let shared = Navigation()
    private(set) var stack: [Screen] = []
    var history: [Screen] = []

    func push(_ screen: Screen) { stack.append(screen) }

    func pop() {
        _ = stack.popLast()
    }

    func popToRoot() {
        while stack.count > 1 { pop() }
    }

    var breadcrumb: String { stack.map(\.title).joined(separator: " > ") }
}

func runWizard(_ name: String, steps: Int) -> Int {
    var collected = 0
    for step in 1...steps {
        let screen = WizardScreen(step: step, wizard: name)
        screen.present()
        screen.fill("v\(step)")
        let alert = AlertScreen(title: "Continue?")
        alert.present()
        alert.confirm()
        collected += screen.collect() + Navigation.shared.breadcrumb.count
    }
    Navigation.shared.popToRoot()
    return collected
}

@main
struct Main {
    static func main() {
        Navigation.shared.push(Screen(title: "Home"))
        var collected = 0
        for run in 0..<10 {
            collected += runWizard(run % 2 == 0 ? "account" : "printer", steps: 4)
        }
        print("collected \(collected) stack \(Navigation.shared.stack.count) history \(Navigation.shared.history.count)")
    }
}
