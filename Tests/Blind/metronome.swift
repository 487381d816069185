import Foundation
import Dispatch

struct Tempo {
    let beatMilliseconds: Int
    let beats: Int
}

/// Ticks for the length of one exercise and then stops.
final class Metronome: @unchecked Sendable {
    private let tempo: Tempo
    private let queue: DispatchQueue
    private var timer: DispatchSourceTimer?
    private var beat = 0
    private var accents: [Int] = []

    init(tempo: Tempo, queue: DispatchQueue) {
        self.tempo = tempo
        self.queue = queue
    }

    func start(finished: @escaping (Metronome) -> Void) {
        let source = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        source.schedule(deadline: .now() + .milliseconds(2), repeating: .milliseconds(tempo.beatMilliseconds))
        source.setEventHandler {
            self.tick()
            if self.beat == self.tempo.beats {
                self.timer?.cancel()
                self.timer = nil
            }
        }
        source.setCancelHandler {
            finished(self)
        }
        timer = source
        source.activate()
    }

    private func tick() {
        beat += 1
        if beat % 4 == 1 { accents.append(beat) }
    }

    var beatCount: Int { beat }
    var accentCount: Int { accents.count }
}

final class PracticeRoom {
    private let queue = DispatchQueue(label: "practice")
    private let group = DispatchGroup()
    private var running: Set<ObjectIdentifier> = []
    private var beats = 0
    private var accents = 0

    func practise(_ tempo: Tempo) {
        let metronome = Metronome(tempo: tempo, queue: queue)
        group.enter()
        queue.sync { _ = running.insert(ObjectIdentifier(metronome)) }
        metronome.start { done in
            self.running.remove(ObjectIdentifier(done))
            self.beats += done.beatCount
            self.accents += done.accentCount
            self.group.leave()
        }
    }

    func waitForSilence() { group.wait() }

    var summary: String {
        queue.sync { "\(beats) beats, \(accents) accents, \(running.count) still ticking" }
    }
}

let room = PracticeRoom()
let studies = [
    Tempo(beatMilliseconds: 3, beats: 12),
    Tempo(beatMilliseconds: 4, beats: 9),
    Tempo(beatMilliseconds: 5, beats: 8),
    Tempo(beatMilliseconds: 6, beats: 7),
]
for lesson in 0..<15 {
    for study in studies { room.practise(study) }
    if lesson % 3 == 2 { room.waitForSilence() }
    usleep(10_000)
}
room.waitForSilence()
print("15 lessons: " + room.summary)
