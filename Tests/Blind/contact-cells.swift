import Foundation

struct Avatar: Sendable {
    let contact: Int
    let pixels: [UInt8]
}

final class AvatarHub: @unchecked Sendable {
    private let lock = NSRecursiveLock()
    private var requests: [Int: AsyncStream<Avatar>.Continuation] = [:]
    private var served = 0

    func avatars(for contact: Int) -> AsyncStream<Avatar> {
        let (stream, continuation) = AsyncStream<Avatar>.makeStream()
        continuation.onTermination = { [unowned self] _ in self.remove(contact) }
        lock.withLock { requests[contact] = continuation }
        return stream
    }

    private func remove(_ contact: Int) {
        lock.withLock { _ = requests.removeValue(forKey: contact) }
    }

    func render(_ contacts: Range<Int>, revision: Int) {
        lock.withLock {
            for contact in contacts {
                let pixels = (0..<64).map { UInt8(truncatingIfNeeded: $0 * contact + revision) }
                requests[contact]?.yield(Avatar(contact: contact, pixels: pixels))
                served += 1
            }
        }
    }

    var total: Int { lock.withLock { served } }
}

@MainActor
final class CellModel {
    let contact: Int
    private(set) var tint = 0
    private(set) var loaded = false
    private var loading: Task<Void, Never>?

    init(contact: Int) {
        self.contact = contact
    }

    func beginDisplay(hub: AvatarHub) {
        let avatars = hub.avatars(for: contact)
        loading = Task {
            for await avatar in avatars {
                tint = avatar.pixels.reduce(0) { ($0 + Int($1)) % 256 }
                loaded = true
            }
        }
    }

    func endDisplay() {
        loading?.cancel()
        loading = nil
    }

    deinit {
        loading?.cancel()
    }
}

@MainActor
final class ContactList {
    private let hub: AvatarHub
    private let windowSize = 30
    private var cells: [Int: CellModel] = [:]
    private(set) var visible = 0..<0

    init(hub: AvatarHub) {
        self.hub = hub
    }

    func scroll(to first: Int) {
        let window = first..<(first + windowSize)
        for contact in visible where !window.contains(contact) {
            cells[contact] = nil
        }
        for contact in window where cells[contact] == nil {
            let cell = CellModel(contact: contact)
            cells[contact] = cell
            cell.beginDisplay(hub: hub)
        }
        visible = window
    }

    func waitUntilLoaded() async {
        while cells.values.contains(where: { !$0.loaded }) {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    var shade: Int { cells.values.reduce(0) { $0 + $1.tint } }

    func close() {
        cells.values.forEach { $0.endDisplay() }
        cells.removeAll()
        visible = 0..<0
    }
}

@main
enum Contacts {
    static let hub = AvatarHub()

    @MainActor
    static func main() async {
        let list = ContactList(hub: hub)
        var shades: [Int] = []
        for step in 0..<21 {
            list.scroll(to: step * 15)
            hub.render(list.visible, revision: step)
            await list.waitUntilLoaded()
            shades.append(list.shade)
        }
        list.close()
        try? await Task.sleep(for: .milliseconds(40))
        print("steps: \(shades.count), avatars rendered: \(hub.total)")
        print("darkest window: \(shades.min() ?? 0), brightest: \(shades.max() ?? 0)")
    }
}
