import Foundation

// Tide gauges post water levels to one mailbox per station; a forecast model
// per station works through its mailbox and keeps a harmonic running mean.

final class ReadingNode {
    let minute: Int
    let centimetres: Double
    var next: ReadingNode?

    init(minute: Int, centimetres: Double) {
        self.minute = minute
        self.centimetres = centimetres
    }
}

final class Mailbox {
    private var front: ReadingNode?
    private var back: ReadingNode?

    func append(minute: Int, centimetres: Double) {
        let node = ReadingNode(minute: minute, centimetres: centimetres)
        if back == nil {
            front = node
        } else {
            back!.next = node
        }
        back = node
    }

    func popFront() -> ReadingNode? {
        guard let node = front else { return nil }
        front = node.next
        node.next = nil
        if front == nil { back = nil }
        return node
    }
}

protocol LevelConsumer: AnyObject {
    func pump()
}

final class TideModel: LevelConsumer {
    enum State { case running, faulted(atMinute: Int) }

    let mailbox: Mailbox
    private(set) var state = State.running
    private(set) var mean = 0.0
    private(set) var samples = 0

    init(mailbox: Mailbox) { self.mailbox = mailbox }

    func pump() {
        guard case .running = state else { return }
        while let reading = mailbox.popFront() {
            if samples > 20 && abs(reading.centimetres - mean) > 400 {
                state = .faulted(atMinute: reading.minute)
                return
            }
            samples += 1
            mean += (reading.centimetres - mean) / Double(min(samples, 60))
        }
    }
}

final class GaugeStation {
    let name: String
    let amplitude: Double
    let spikeMinute: Int?
    let mailbox = Mailbox()
    let model: TideModel

    init(name: String, amplitude: Double, spikeMinute: Int? = nil) {
        self.name = name
        self.amplitude = amplitude
        self.spikeMinute = spikeMinute
        model = TideModel(mailbox: mailbox)
    }

    func measure(minute: Int) {
        let phase = Double(minute) / 745.0 * 2.0 * Double.pi
        var level = amplitude * sin(phase) + 12.0
        if minute == spikeMinute { level += 900 }
        mailbox.append(minute: minute, centimetres: level)
    }
}

let stations = [
    GaugeStation(name: "Cuxhaven", amplitude: 150),
    GaugeStation(name: "Brest", amplitude: 170, spikeMinute: 610),
    GaugeStation(name: "Dover", amplitude: 165),
    GaugeStation(name: "Esbjerg", amplitude: 80),
    GaugeStation(name: "Aberdeen", amplitude: 140, spikeMinute: 905),
]

for minute in 0..<1440 {
    for station in stations {
        station.measure(minute: minute)
    }
    if minute % 5 == 4 {
        for station in stations { station.model.pump() }
    }
}

for station in stations {
    let model = station.model
    let mean = String(format: "%.1f", model.mean)
    switch model.state {
    case .running:
        print("\(station.name): running, \(model.samples) samples, mean \(mean) cm")
    case .faulted(let minute):
        print("\(station.name): faulted at minute \(minute), \(model.samples) samples, mean \(mean) cm")
    }
}
