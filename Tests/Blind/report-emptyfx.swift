import Foundation

enum NoteAction {
    case open(Int)
    case loaded(String)
    case touch
}

final class FxSubscription {
    let name: String
    private var onCancel: (() -> Void)?

    init(name: String, onCancel: (() -> Void)? = nil) {
        self.name = name
        self.onCancel = onCancel
    }

    func cancel() {
        onCancel?()
        onCancel = nil
    }
}

/// A unit of work that sends actions and then completes.
struct Fx {
    let name: String
    let actions: [NoteAction]
    let isDeferred: Bool

    static let none = Fx(name: "none", actions: [], isDeferred: false)

    func subscribe(
        scheduler: WorkScheduler,
        receive: @escaping (NoteAction) -> Void,
        complete: @escaping () -> Void
    ) -> FxSubscription {
        let work = {
            actions.forEach(receive)
            complete()
        }
        guard isDeferred else {
            work()
            return FxSubscription(name: name)
        }
        let ticket = scheduler.enqueue(work)
        return FxSubscription(name: name) { [weak scheduler] in scheduler?.remove(ticket) }
    }
}

final class WorkScheduler {
    private var pending: [(Int, () -> Void)] = []
    private var serial = 0

    func enqueue(_ work: @escaping () -> Void) -> Int {
        serial += 1
        pending.append((serial, work))
        return serial
    }

    func remove(_ ticket: Int) { pending.removeAll { $0.0 == ticket } }

    func drain() {
        let batch = pending
        pending.removeAll()
        batch.forEach { $0.1() }
    }
}

final class NotebookStore {
    private let scheduler: WorkScheduler
    private var subscriptions: [UUID: FxSubscription] = [:]
    private(set) var loadedNotes = 0

    init(scheduler: WorkScheduler) { self.scheduler = scheduler }

    func send(_ action: NoteAction) {
        subscribe(update(action))
    }

    private func update(_ action: NoteAction) -> Fx {
        switch action {
        case .open(let number):
            return Fx(name: "load", actions: [.loaded("note \(number)")], isDeferred: true)
        case .loaded:
            loadedNotes += 1
            return .none
        case .touch:
            return .none
        }
    }

    private func subscribe(_ fx: Fx) {
        let id = UUID()
        let subscription = fx.subscribe(scheduler: scheduler) { [weak self] action in
            self?.send(action)
        } complete: { [weak self] in
            self?.subscriptions[id] = nil
        }
        subscriptions[id] = subscription
    }
}

let scheduler = WorkScheduler()
let store = NotebookStore(scheduler: scheduler)
for step in 0..<99 {
    store.send(step % 3 == 0 ? .touch : .open(step))
    scheduler.drain()
    usleep(4_000)
}
print("99 steps, \(store.loadedNotes) notes loaded")
