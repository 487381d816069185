import Dispatch
import Foundation

final class Photo {
    let album: String
    let number: Int
    let bytes: [UInt8]

    init(album: String, number: Int) {
        self.album = album
        self.number = number
        let base = album.utf8.reduce(number) { $0 &* 31 &+ Int($1) }
        bytes = (0..<96).map { UInt8(truncatingIfNeeded: (base &* ($0 + 3)) >> 5) }
    }

    var fingerprint: UInt32 {
        bytes.reduce(2166136261) { ($0 ^ UInt32($1)) &* 16777619 }
    }
}

final class Importer {
    private let thumbnails = DispatchQueue(label: "import.thumbnails", attributes: .concurrent)
    private let index = DispatchQueue(label: "import.index")
    private let group = DispatchGroup()
    private var known: Set<UInt32> = []
    private(set) var imported = 0
    private(set) var duplicates = 0
    private(set) var albums: [String: Int] = [:]

    func importAlbum(_ name: String, numbers: [Int]) {
        index.suspend()
        for number in numbers {
            let photo = Photo(album: name, number: number)
            thumbnails.async(group: group) { [self] in
                let mark = photo.fingerprint
                index.async(group: group) { [self] in
                    register(photo, mark: mark)
                }
            }
        }
        thumbnails.sync(flags: .barrier) {}
        index.resume()
        group.wait()
    }

    private func register(_ photo: Photo, mark: UInt32) {
        if known.insert(mark).inserted {
            imported += 1
            albums[photo.album, default: 0] += 1
        } else {
            duplicates += 1
        }
    }
}

let importer = Importer()
let cards = ["beach", "birthday", "hiking", "concert", "winter", "museum"]

for round in 0..<24 {
    let card = cards[round % cards.count]
    let first = (round / cards.count) * 50
    let numbers = (first..<(first + 65)).filter { $0 % 17 != 3 }
    importer.importAlbum(card, numbers: numbers)
    usleep(1500)
}

print("imported \(importer.imported), duplicates \(importer.duplicates)")
for (album, count) in importer.albums.sorted(by: { $0.key < $1.key }) {
    print("\(album): \(count)")
}
