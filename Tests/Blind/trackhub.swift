import Foundation

extension Notification.Name {
    static let trackChanged = Notification.Name("player.trackChanged")
}

struct Track {
    let title: String
    let seconds: Int
}

final class Transport {
    private let playlist: [Track]
    private var position = 0

    init(playlist: [Track]) {
        self.playlist = playlist
    }

    func skip() {
        position = (position + 1) % playlist.count
        let track = playlist[position]
        NotificationCenter.default.post(name: .trackChanged, object: nil,
                                        userInfo: ["title": track.title, "seconds": track.seconds])
    }
}

final class LyricsPane {
    let number: Int
    private(set) var caption = ""
    private(set) var updates = 0
    private var token: NSObjectProtocol?

    init(number: Int) {
        self.number = number
    }

    func open() {
        token = NotificationCenter.default.addObserver(forName: .trackChanged, object: nil, queue: nil) { note in
            self.show(note)
        }
    }

    private func show(_ note: Notification) {
        guard let title = note.userInfo?["title"] as? String,
              let seconds = note.userInfo?["seconds"] as? Int else { return }
        caption = "\(title) (\(seconds / 60):\(seconds % 60))"
        updates += 1
    }

    deinit {
        if let token {
            NotificationCenter.default.removeObserver(token)
        }
    }
}

final class PlayerWindow {
    private var pane: LyricsPane?
    private var opened = 0
    private(set) var captionLengths = 0

    func toggleLyrics() {
        if let current = pane {
            captionLengths += current.caption.count
            pane = nil
        } else {
            opened += 1
            let fresh = LyricsPane(number: opened)
            fresh.open()
            pane = fresh
        }
    }

    var panesOpened: Int { opened }
}

let transport = Transport(playlist: (1...12).map { Track(title: "Take \($0)", seconds: 150 + $0 * 7) })
let window = PlayerWindow()

for minute in 1...180 {
    window.toggleLyrics()
    transport.skip()
    if minute % 3 == 0 {
        Thread.sleep(forTimeInterval: 0.008)
    }
}

print("trackhub: opened \(window.panesOpened) panes, \(window.captionLengths) caption characters")
exit(0)
