import Foundation

/// A little publisher library in the manner of Combine.
final class Subject<Value> {
    private var sinks: [Int: (Value) -> Void] = [:]
    private var nextID = 0
    var value: Value

    init(_ value: Value) { self.value = value }

    func send(_ newValue: Value) {
        value = newValue
        for sink in sinks.values { sink(newValue) }
    }

    func sink(_ body: @escaping (Value) -> Void) -> Cancellable {
        nextID += 1
        let id = nextID
        sinks[id] = body
        return Cancellable { [weak self] in self?.sinks[id] = nil }
    }
}

final class Cancellable {
    private let cancel: () -> Void
    init(_ cancel: @escaping () -> Void) { self.cancel = cancel }
    deinit { cancel() }
}

final class SearchViewModel {
    let query = Subject("")
    private(set) var results: [String] = []
    private var cancellables: [Cancellable] = []
    private let catalog: [String]

    init(catalog: [String]) {
        self.catalog = catalog
        cancellables.append(query.sink { text in
            self.results = self.catalog.filter { $0.contains(text) }
        })
    }
}

final class DetailViewModel {
    let item = Subject("")
    private(set) var title = ""
    private var cancellables: [Cancellable] = []

    init() {
        cancellables.append(item.sink { [weak self] text in
            self?.title = text.uppercased()
        })
    }
}

final class Navigator {
    private var searches: [SearchViewModel] = []
    private var details: [DetailViewModel] = []
    private(set) var hits = 0

    func showSearch(_ text: String, catalog: [String]) {
        let model = SearchViewModel(catalog: catalog)
        searches.append(model)
        for end in text.indices { model.query.send(String(text[...end])) }
        hits += model.results.count
        if let first = model.results.first { showDetail(first) }
    }

    private func showDetail(_ name: String) {
        let model = DetailViewModel()
        details.append(model)
        model.item.send(name)
        hits += model.title.isEmpty ? 0 : 1
    }

    func popAll() {
        searches.removeAll()
        details.removeAll()
    }
}

let catalog = (0..<200).map { "article-\($0)" }
let navigator = Navigator()
for round in 0..<6 {
    for n in 0..<10 { navigator.showSearch("\(round)\(n)", catalog: catalog) }
    navigator.popAll()
    Thread.sleep(forTimeInterval: 0.03)
}
print("hits:", navigator.hits)
