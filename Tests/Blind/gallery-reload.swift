struct Photo: Sendable {
    let id: Int
    var likes: Int
    var caption: String
}

actor PhotoStore {
    private var photos: [Int: Photo] = [:]
    private var observers: [Int: (photo: Int, sink: AsyncStream<Photo>.Continuation)] = [:]
    private var token = 0

    init(count: Int) {
        for id in 0..<count { photos[id] = Photo(id: id, likes: id * 3, caption: "IMG_\(1000 + id)") }
    }

    func updates(of id: Int) -> AsyncStream<Photo> {
        token += 1
        let mine = token
        let (stream, sink) = AsyncStream.makeStream(of: Photo.self, bufferingPolicy: .bufferingNewest(1))
        sink.onTermination = { [weak self] _ in
            Task { await self?.forget(mine) }
        }
        observers[mine] = (id, sink)
        if let photo = photos[id] { sink.yield(photo) }
        return stream
    }

    private func forget(_ token: Int) { observers[token] = nil }

    func like(_ id: Int) {
        photos[id]?.likes += 1
        guard let photo = photos[id] else { return }
        for (wanted, sink) in observers.values where wanted == id { sink.yield(photo) }
    }

    var totalLikes: Int { photos.values.reduce(0) { $0 + $1.likes } }
}

@MainActor
final class PhotoCell {
    private(set) var title = "…"
    private var redraws = 0

    func show(_ id: Int, from store: PhotoStore) async {
        for await photo in await store.updates(of: id) {
            title = "\(photo.caption) ♥\(photo.likes)"
            redraws += 1
        }
    }
}

@MainActor
final class GalleryController {
    private let store: PhotoStore
    private var cells: [Int: PhotoCell] = [:]
    private var loads: [Int: Task<Void, Never>] = [:]

    init(store: PhotoStore) { self.store = store }

    func willDisplay(_ row: Int) {
        place(row)
    }

    func endDisplaying(_ row: Int) {
        loads.removeValue(forKey: row)?.cancel()
        cells[row] = nil
    }

    func reload(_ row: Int) {
        guard cells[row] != nil else { return }
        place(row)
    }

    private func place(_ row: Int) {
        let cell = PhotoCell()
        cells[row] = cell
        loads[row] = Task { [store] in
            await cell.show(row, from: store)
        }
    }

    var titles: [String] { cells.keys.sorted().map { cells[$0]!.title } }
}

let store = PhotoStore(count: 36)
let gallery = GalleryController(store: store)

for row in 0..<6 { gallery.willDisplay(row) }
for top in 1...24 {
    gallery.endDisplaying(top - 1)
    gallery.willDisplay(top + 5)
    for row in top..<(top + 6) where row.isMultiple(of: 2) { await store.like(row) }
    if top % 5 == 0 {
        try await Task.sleep(for: .milliseconds(10))
        gallery.reload(top + 2)
    }
    try await Task.sleep(for: .milliseconds(12))
}
gallery.reload(25)

for n in 0..<30 {
    await store.like(24 + n % 6)
    try await Task.sleep(for: .milliseconds(15))
}
print(gallery.titles.joined(separator: ", "))
print("likes: \(await store.totalLikes)")
