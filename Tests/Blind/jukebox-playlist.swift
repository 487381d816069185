import Foundation

final class Track {
    let title: String
    let artist: String
    let seconds: Int
    fileprivate var following: Track?
    fileprivate weak var preceding: Track?

    init(title: String, artist: String, seconds: Int) {
        self.title = title
        self.artist = artist
        self.seconds = seconds
    }
}

final class Playlist {
    let name: String
    private var first: Track?
    private weak var last: Track?
    private(set) var count = 0

    init(name: String) { self.name = name }

    func append(_ track: Track) {
        if let l = last {
            l.following = track
            track.preceding = l
        } else {
            first = track
        }
        last = track
        count += 1
    }

    func moveToFront(_ track: Track) {
        guard first !== track else { return }
        unlink(track)
        track.following = first
        first?.preceding = track
        first = track
        count += 1
    }

    func drop(where condition: (Track) -> Bool) -> Int {
        var dropped = 0
        var cursor = first
        while let track = cursor {
            cursor = track.following
            if condition(track) {
                unlink(track)
                dropped += 1
            }
        }
        return dropped
    }

    private func unlink(_ track: Track) {
        let p = track.preceding, f = track.following
        if let p = p { p.following = f } else { first = f }
        if let f = f { f.preceding = p } else { last = p }
        track.following = nil
        track.preceding = nil
        count -= 1
    }

    func find(_ title: String) -> Track? {
        var cursor = first
        while let t = cursor {
            if t.title == title { return t }
            cursor = t.following
        }
        return nil
    }

    func forEach(_ body: (Int, Track) -> Void) {
        var cursor = first
        var position = 1
        while let t = cursor {
            body(position, t)
            position += 1
            cursor = t.following
        }
    }
}

let artists = ["Nina Holt", "The Quarries", "DJ Umlaut", "Velvet Tram", "Ada & Sons", "Low Tide"]
let adjectives = ["Golden", "Silent", "Broken", "Electric", "Late", "Paper"]
let nouns = ["Avenue", "Harbour", "Mirror", "Parade", "Winter", "Signal", "Lantern"]

let evening = Playlist(name: "Friday evening")
var k = 1
for i in 0..<900 {
    k = (k * 75 + 74) % 65537
    let title = "\(adjectives[k % 6]) \(nouns[(k / 7) % 7]) \(i)"
    evening.append(Track(title: title, artist: artists[(k / 11) % 6], seconds: 120 + k % 240))
    if i % 9 == 8, let wish = evening.find(title) {
        evening.moveToFront(wish)
    }
}

let dropped = evening.drop { $0.seconds > 345 }
print("\(evening.name): \(evening.count) tracks, \(dropped) too long")

var total = 0
var perArtist: [String: Int] = [:]
evening.forEach { position, track in
    total += track.seconds
    perArtist[track.artist, default: 0] += track.seconds
    if position <= 5 {
        print("\(position). \(track.title) - \(track.artist) (\(track.seconds / 60):\(String(format: "%02d", track.seconds % 60)))")
    }
}
for artist in perArtist.keys.sorted() {
    print("\(artist): \(perArtist[artist]! / 60) min")
}
print("total \(total / 3600) h \(total % 3600 / 60) min")
