import Foundation

struct Frame {
    var x = 0, y = 0, width = 0, height = 0
    var area: Int { width * height }
}

enum Widget {
    case label(String)
    case image(width: Int, height: Int)
    case list(rows: Int)
}

final class Screen {
    let serial: Int
    let title: String
    var widgets: [Widget]
    var scrollOffset = 0

    init(serial: Int, title: String, widgets: [Widget]) {
        self.serial = serial
        self.title = title
        self.widgets = widgets
    }
}

final class LayoutPlan {
    let frames: [Frame]
    let height: Int

    init(frames: [Frame]) {
        self.frames = frames
        self.height = frames.reduce(0) { $0 + $1.height }
    }

    func visible(from offset: Int, height: Int) -> Int {
        var shown = 0
        for frame in frames where frame.y + frame.height > offset && frame.y < offset + height {
            shown += 1
        }
        return shown
    }
}

struct LayoutEngine {
    let width: Int

    func layOut(_ screen: Screen) -> LayoutPlan {
        var frames: [Frame] = []
        var y = 0
        for widget in screen.widgets {
            var frame = Frame(x: 0, y: y, width: width, height: 0)
            switch widget {
            case .label(let text):
                frame.height = 20 * (1 + text.utf8.count * 8 / width)
            case .image(let imageWidth, let imageHeight):
                frame.height = imageHeight * width / max(imageWidth, 1)
            case .list(let rows):
                frame.height = rows * 44
            }
            y += frame.height
            frames.append(frame)
        }
        return LayoutPlan(frames: frames)
    }
}

/// Side table: layout results belong to the engine, not to the screen model.
final class LayoutRegistry {
    private struct Entry {
        weak var screen: Screen?
        let plan: LayoutPlan
    }

    private var entries: [Int: Entry] = [:]
    private let engine: LayoutEngine
    private(set) var computed = 0

    init(engine: LayoutEngine) { self.engine = engine }

    func plan(for screen: Screen) -> LayoutPlan {
        if let entry = entries[screen.serial], entry.screen != nil {
            return entry.plan
        }
        let plan = engine.layOut(screen)
        computed += 1
        entries[screen.serial] = Entry(screen: screen, plan: plan)
        return plan
    }
}

final class Navigator {
    private var tabs: [Screen] = []
    private var stack: [Screen] = []
    private var nextSerial = 1
    private let registry: LayoutRegistry
    private(set) var painted = 0

    init(registry: LayoutRegistry) {
        self.registry = registry
        tabs = ["Home", "Search", "Orders", "Profile"].map { make(title: $0) }
    }

    private func make(title: String) -> Screen {
        let serial = nextSerial
        nextSerial += 1
        return Screen(serial: serial, title: title, widgets: [
            .label(title),
            .image(width: 640, height: 300 + serial % 50),
            .list(rows: 5 + serial % 12),
            .label("footer of \(title)"),
        ])
    }

    func push(_ title: String) { stack.append(make(title: title)) }

    func pop() { stack.removeLast() }

    func paint(ticks: Int) {
        for tick in 0..<ticks {
            for screen in tabs + stack {
                screen.scrollOffset = tick * 60 % max(registry.plan(for: screen).height, 1)
                painted += registry.plan(for: screen).visible(from: screen.scrollOffset, height: 700)
            }
        }
    }
}

let registry = LayoutRegistry(engine: LayoutEngine(width: 375))
let navigator = Navigator(registry: registry)

for visit in 0..<250 {
    navigator.push("Product \(visit)")
    navigator.paint(ticks: 3)
    navigator.push("Reviews of \(visit)")
    navigator.paint(ticks: 3)
    navigator.push("Photo \(visit)")
    navigator.paint(ticks: 2)
    usleep(2000)
    for _ in 0..<3 { navigator.pop() }
    navigator.paint(ticks: 1)
}
print("painted \(navigator.painted) widgets, computed \(registry.computed) layouts")
