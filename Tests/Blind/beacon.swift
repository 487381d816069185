import Foundation
import Dispatch

enum Character5: Int, CaseIterable {
    case fixed, flashing, occulting, isophase, quick

    var period: Int { 12 + rawValue * 4 }
}

/// A light on a rock; its lamp changes state on a timer.
final class Beacon {
    let site: Int
    let night: Int
    private let character: Character5
    private let timer: DispatchSourceTimer
    private var lit = false
    private(set) var flashes = 0
    private var lens = [Double](repeating: 0.5, count: 48)

    init(site: Int, night: Int, character: Character5, queue: DispatchQueue) {
        self.site = site
        self.night = night
        self.character = character
        timer = DispatchSource.makeTimerSource(queue: queue)
    }

    deinit {
        timer.cancel()
    }

    func kindle() {
        timer.schedule(deadline: .now(), repeating: .milliseconds(character.period))
        timer.setEventHandler {
            self.turn()
        }
        timer.resume()
    }

    private func turn() {
        lit.toggle()
        if lit { flashes += 1 }
        lens[flashes % lens.count] *= 0.99
    }
}

final class LightService {
    private let queue = DispatchQueue(label: "lights")
    private var burning: [Int: Beacon] = [:]
    private(set) var kindled = 0
    private(set) var darkSites = 0

    func dusk(night: Int, sites: Int) {
        for site in 0..<sites {
            let character = Character5(rawValue: site % Character5.allCases.count)!
            let beacon = Beacon(site: site, night: night, character: character, queue: queue)
            beacon.kindle()
            burning[site] = beacon
            kindled += 1
        }
    }

    func dawn() {
        let flashes = queue.sync { burning.values.map(\.flashes) }
        darkSites += flashes.filter { $0 == 0 }.count
        burning.removeAll()
    }
}

let service = LightService()
for night in 0..<10 {
    service.dusk(night: night, sites: 5)
    Thread.sleep(forTimeInterval: 0.06)
    service.dawn()
    Thread.sleep(forTimeInterval: 0.01)
}
print("kindled \(service.kindled) lights, \(service.darkSites) dark")
