import Foundation

final class Exposure {
    let iso: Int
    let shutterMicros: Int
    let focal: Int
    init(iso: Int, shutterMicros: Int, focal: Int) {
        self.iso = iso
        self.shutterMicros = shutterMicros
        self.focal = focal
    }
}

final class Photo {
    let taken: Int
    let file: String
    let exposure: Exposure
    var rating = 0
    weak var album: Album?

    init(taken: Int, file: String, exposure: Exposure) {
        self.taken = taken
        self.file = file
        self.exposure = exposure
    }
}

final class Album {
    let name: String
    private(set) var photos: [Photo] = []
    init(name: String) { self.name = name }

    func add(_ photo: Photo) {
        photo.album?.photos.removeAll { $0 === photo }
        photo.album = self
        photos.append(photo)
    }
}

final class Thumbnail {
    let pixels: [UInt8]
    let file: String
    init(file: String, seed: Int) {
        self.file = file
        pixels = (0..<1024).map { UInt8(truncatingIfNeeded: $0 &* seed) }
    }
    var brightness: Int { pixels.reduce(0) { $0 + Int($1) } / pixels.count }
}

final class Timeline {
    private var sorted: [Photo] = []

    func insert(_ photo: Photo) {
        sorted.insert(photo, at: position(of: photo.taken))
    }

    private func position(of moment: Int) -> Int {
        var low = 0
        var high = sorted.count
        while low < high {
            let mid = (low + high) >> 1
            if sorted[mid].taken < moment { low = mid + 1 } else { high = mid }
        }
        return low
    }

    func nearest(to moment: Int) -> Photo? {
        let i = position(of: moment)
        if i == sorted.count { return sorted.last }
        return sorted[i]
    }

    func range(_ from: Int, _ to: Int) -> ArraySlice<Photo> {
        sorted[position(of: from)..<position(of: to)]
    }

    var count: Int { sorted.count }
}

final class ThumbnailStore {
    private var items: [Thumbnail] = []
    private let byteLimit: Int
    private(set) var rendered = 0

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    func thumbnail(for photo: Photo) -> Thumbnail {
        if let i = items.firstIndex(where: { $0.file == photo.file }) {
            let found = items.remove(at: i)
            items.append(found)
            return found
        }
        let fresh = Thumbnail(file: photo.file, seed: photo.taken)
        rendered += 1
        items.append(fresh)
        var bytes = items.reduce(0) { $0 + $1.pixels.count }
        while bytes > byteLimit {
            bytes -= items.removeFirst().pixels.count
        }
        return fresh
    }
}

final class Catalogue {
    let timeline = Timeline()
    let thumbnails = ThumbnailStore(byteLimit: 64 * 1024)
    private var albums: [String: Album] = [:]

    func album(_ name: String) -> Album {
        if let album = albums[name] { return album }
        let album = Album(name: name)
        albums[name] = album
        return album
    }

    func importCard(_ card: Int, shots: Int) {
        for shot in 0..<shots {
            let moment = card * 86_400 + (shot * 7_919) % 50_000
            let exposure = Exposure(iso: 100 << (shot % 6), shutterMicros: 500 + shot * 31 % 8_000,
                                    focal: [24, 35, 50, 85][(shot + card) % 4])
            let photo = Photo(taken: moment, file: "IMG_\(card)_\(shot).RAW", exposure: exposure)
            timeline.insert(photo)
            album(shot % 9 == 0 ? "portraits" : "trip \(card / 4)").add(photo)
        }
    }

    func albumReport() -> [String] {
        albums.values.sorted { $0.name < $1.name }.map { album in
            let stars = album.photos.reduce(0) { $0 + $1.rating }
            let noisy = album.photos.filter { $0.exposure.iso >= 1_600 }.count
            return "\(album.name): \(album.photos.count) photos, \(stars) stars, \(noisy) noisy"
        }
    }
}

let catalogue = Catalogue()

func browse(upTo card: Int, step: Int) -> Int {
    var light = 0
    for i in 0..<30 {
        let moment = ((i * 37 + step * 11) % (card + 1)) * 86_400 + i * 1_000
        guard let photo = catalogue.timeline.nearest(to: moment) else { continue }
        light += catalogue.thumbnails.thumbnail(for: photo).brightness
        photo.rating = min(5, photo.rating + 1)
        if photo.rating == 4 { catalogue.album("favourites").add(photo) }
    }
    return light
}

func main() {
    var light = 0
    for card in 0..<28 {
        catalogue.importCard(card, shots: 70)
        for step in 0..<3 {
            light += browse(upTo: card, step: step)
            usleep(15_000)
        }
        if card % 7 == 6 {
            let week = catalogue.timeline.range((card - 6) * 86_400, (card + 1) * 86_400)
            let best = week.max { $0.rating < $1.rating }
            print("week \(card / 7): \(week.count) photos, best \(best?.file ?? "-")")
        }
    }
    for line in catalogue.albumReport() { print(line) }
    print("\(catalogue.timeline.count) photos, \(catalogue.thumbnails.rendered) thumbnails, light \(light)")
}

main()
