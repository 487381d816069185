import Foundation
import Dispatch
import Observation

@Observable
final class ThemeModel {
    var accent = "blue"
    var fontSize = 12
}

let theme = ThemeModel()
let ui = DispatchQueue(label: "ui")

final class HeaderView {
    var text = ""
    var color = ""
}

final class HeaderPresenter {
    private let view = HeaderView()
    private let title: String
    private(set) var renders = 0

    init(title: String) { self.title = title }

    func track() {
        withObservationTracking {
            view.color = theme.accent
            view.text = title
        } onChange: {
            ui.async { self.track() }
        }
        renders += 1
    }
}

final class FooterPresenter {
    private var size = 0
    private(set) var renders = 0

    func track() {
        withObservationTracking {
            size = theme.fontSize
        } onChange: { [weak self] in
            ui.async { self?.track() }
        }
        renders += 1
    }
}

final class Page {
    let header: HeaderPresenter
    let footer = FooterPresenter()

    init(number: Int) { header = HeaderPresenter(title: "Page \(number)") }

    func open() {
        header.track()
        footer.track()
    }

    var renders: Int { header.renders + footer.renders }
}

let accents = ["red", "green", "blue", "teal"]
var renders = 0

for number in 0..<12 {
    let page = Page(number: number)
    ui.sync { page.open() }
    for change in 0..<5 {
        ui.sync {
            theme.accent = accents[(number + change) % accents.count]
            theme.fontSize = 10 + change
        }
    }
    ui.sync { renders += page.renders }
}
ui.sync {}
print("renders \(renders) accent \(theme.accent)")
