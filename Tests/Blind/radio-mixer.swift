import Foundation

final class Song: Sendable {
    let id: Int
    let artist: String
    init(id: Int, artist: String) {
        self.id = id
        self.artist = artist
    }
}

final class Play: Sendable {
    let song: Song
    let slot: Int
    init(song: Song, slot: Int) {
        self.song = song
        self.slot = slot
    }
}

final class Jingle: Sendable {
    let text: String
    init(text: String) { self.text = text }
}

struct Ring<Element> {
    private var storage: [Element?]
    private var cursor = 0
    init(capacity: Int) { storage = Array(repeating: nil, count: capacity) }
    mutating func push(_ element: Element) {
        storage[cursor] = element
        cursor = (cursor + 1) % storage.count
    }
    var elements: [Element] { storage.compactMap { $0 } }
}

actor Station {
    private var history = Ring<Play>(capacity: 100)
    private var requests: [Song] = []
    private var favourites: [Int: Song] = [:]
    private var charts: [String: Int] = [:]
    private(set) var slots = 0
    private var jingle: Jingle?

    func request(_ song: Song) {
        let recent = history.elements.suffix(20).contains { $0.song.id == song.id }
        if !recent { requests.append(song) }
    }

    func like(_ song: Song) { favourites[song.id] = song }

    func playNext(fallback: Song) -> Play {
        let song = requests.isEmpty ? fallback : requests.removeFirst()
        if slots % 12 == 0 { jingle = Jingle(text: "You hear slot \(slots)") }
        let play = Play(song: song, slot: slots)
        slots += 1
        history.push(play)
        charts[song.artist, default: 0] += 1
        return play
    }

    func countdown() -> [String] {
        charts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(3).map(\.key)
    }

    func closing() -> (favourites: Int, remembered: Int, queued: Int) {
        (favourites.values.filter { $0.id >= 0 }.count, history.elements.count, requests.count)
    }
}

struct Listener: Sendable {
    let number: Int
    let station: Station

    func listen() async {
        for n in 0..<80 {
            let song = Song(id: number * 1000 + n, artist: "Artist \((number * 3 + n) % 17)")
            if n % 4 == 0 { await station.request(song) }
            if n % 16 == 3 { await station.like(song) }
            try? await Task.sleep(nanoseconds: 12_000_000)
        }
    }
}

@main
struct Radio {
    static func main() async {
        let station = Station()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                group.addTask { await Listener(number: number, station: station).listen() }
            }
            group.addTask {
                for slot in 0..<700 {
                    let play = await station.playNext(fallback: Song(id: -slot, artist: "House band"))
                    if play.song.id % 10 == 9 { await station.like(play.song) }
                    try? await Task.sleep(nanoseconds: 1_000_000)
                }
            }
        }
        let numbers = await station.closing()
        print("slots \(await station.slots), top \(await station.countdown().first ?? "-")")
        print("favourites kept: \(numbers.favourites > 0), plays remembered \(numbers.remembered), queued \(numbers.queued < 100)")
    }
}
