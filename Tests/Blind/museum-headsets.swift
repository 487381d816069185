import Foundation

enum Language: String, CaseIterable {
    case dutch, french, korean, portuguese
}

struct CheckoutKey: Hashable {
    let serial: Int
    let day: Int
}

final class HeadsetSession {
    let key: CheckoutKey
    let language: Language
    private(set) var stops: [Int] = []

    init(key: CheckoutKey, language: Language) {
        self.key = key
        self.language = language
    }

    func visit(_ stop: Int) { stops.append(stop) }
    var listenedSeconds: Int { stops.reduce(0) { $0 + 40 + ($1 * 17) % 95 } }
}

final class AudioGuideService {
    private var sessions: [CheckoutKey: HeadsetSession] = [:]
    private var languagesInUse: [Language: Set<Int>] = [:]
    private(set) var mostAtOnce = 0

    func checkOut(_ session: HeadsetSession) -> Bool {
        guard sessions[session.key] == nil else { return false }
        sessions[session.key] = session
        languagesInUse[session.language, default: []].insert(session.key.serial)
        mostAtOnce = max(mostAtOnce, sessions.count)
        return true
    }

    func broadcast(stop: Int) {
        for session in sessions.values { session.visit(stop) }
    }

    func checkIn(_ key: CheckoutKey) -> HeadsetSession? {
        guard let session = sessions.removeValue(forKey: key) else { return nil }
        languagesInUse[session.language]?.remove(key.serial)
        return session
    }

    var outNow: Int { sessions.count }
}

struct DayTotals {
    var visitors = 0
    var seconds = 0
    var stops = 0
}

let guide = AudioGuideService()
var totals: [Language: DayTotals] = [:]
var conflicts = 0

for day in 1...60 {
    for group in 0..<5 {
        var keys: [CheckoutKey] = []
        for seat in 0..<4 {
            let language = Language.allCases[(day + group * 2 + seat) % Language.allCases.count]
            let session = HeadsetSession(key: CheckoutKey(serial: 100 + group * 10 + seat, day: day), language: language)
            if guide.checkOut(session) {
                keys.append(session.key)
            } else {
                conflicts += 1
            }
        }
        for stop in 0..<(6 + (day + group) % 7) {
            guide.broadcast(stop: stop)
        }
        for key in keys {
            guard let session = guide.checkIn(key) else { continue }
            totals[session.language, default: DayTotals()].visitors += 1
            totals[session.language]!.seconds += session.listenedSeconds
            totals[session.language]!.stops += session.stops.count
        }
    }
}

for language in Language.allCases {
    let line = totals[language] ?? DayTotals()
    print("\(language.rawValue): \(line.visitors) visitors, \(line.stops) stops, \(line.seconds) s")
}
print("conflicts: \(conflicts), most at once: \(guide.mostAtOnce), out now: \(guide.outNow)")
