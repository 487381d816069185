import Foundation
import Observation

@Observable
final class StageModel {
    var focusedTitle = "Desktop"
    var badge = 0
}

protocol WindowDelegate: AnyObject {
    func windowDidClose(_ window: StageWindow)
    func window(_ window: StageWindow, didSubmit text: String)
}

final class StageWindow {
    let title: String
    weak var delegate: WindowDelegate?
    private unowned let model: StageModel
    private(set) var repaints = 0
    private var views: [StageView] = []

    init(title: String, model: StageModel) {
        self.title = title
        self.model = model
        for index in 0..<3 {
            let view = StageView(label: "\(title).\(index)")
            view.container = self
            views.append(view)
        }
    }

    func watchFocus() {
        withObservationTracking {
            _ = model.focusedTitle
        } onChange: { [weak self] in
            self?.repaints += 1
        }
    }

    func submit() {
        let text = views.map(\.label).joined(separator: "|")
        delegate?.window(self, didSubmit: text)
    }

    func close() {
        delegate?.windowDidClose(self)
    }
}

final class StageView {
    let label: String
    weak var container: StageWindow?

    init(label: String) {
        self.label = label
    }
}

final class WindowManager: WindowDelegate {
    private let model = StageModel()
    private var windows: [StageWindow] = []
    private(set) var submittedLength = 0
    private(set) var closed = 0
    private(set) var repaints = 0

    func open(_ title: String) -> StageWindow {
        let window = StageWindow(title: title, model: model)
        window.delegate = self
        windows.append(window)
        model.focusedTitle = title
        windows.forEach { $0.watchFocus() }
        return window
    }

    func windowDidClose(_ window: StageWindow) {
        repaints += window.repaints
        windows.removeAll { $0 === window }
        closed += 1
        model.focusedTitle = windows.last?.title ?? "Desktop"
        model.badge = windows.count
    }

    func window(_ window: StageWindow, didSubmit text: String) {
        submittedLength += text.count
    }

    func closeOldest() {
        windows.first?.close()
    }

    var openCount: Int { windows.count }
}

@main
struct Stage {
    static func main() {
        let manager = WindowManager()
        for number in 1...160 {
            let window = manager.open("Note \(number)")
            window.submit()
            if manager.openCount > 4 {
                manager.closeOldest()
            }
            if number % 4 == 0 {
                Thread.sleep(forTimeInterval: 0.012)
            }
        }
        while manager.openCount > 0 {
            manager.closeOldest()
        }
        print("windowstage: closed \(manager.closed), submitted \(manager.submittedLength), repaints \(manager.repaints)")
    }
}
