import Foundation

enum Register: Int {
    case dayRate = 1
    case nightRate = 2
}

final class MeterReading {
    let takenOn: Int
    let register: Register
    let litres: Int
    let previous: MeterReading?

    init(takenOn: Int, register: Register, litres: Int, previous: MeterReading?) {
        self.takenOn = takenOn
        self.register = register
        self.litres = litres
        self.previous = previous
    }

    var consumption: Int {
        guard let previous else { return 0 }
        return litres - previous.litres
    }
}

final class WaterMeter {
    let serial: String
    private var latest: MeterReading?
    private(set) var peakDay = 0
    private(set) var peakConsumption = 0

    init(serial: String) {
        self.serial = serial
    }

    func record(day: Int, litres: Int) {
        let register: Register = day % 2 == 0 ? .dayRate : .nightRate
        let reading = MeterReading(takenOn: day, register: register, litres: litres, previous: latest)
        if reading.consumption > peakConsumption {
            peakConsumption = reading.consumption
            peakDay = day
        }
        latest = reading
    }

    var current: Int { latest?.litres ?? 0 }
    var lastConsumption: Int { latest?.consumption ?? 0 }
}

final class Utility {
    private var meters: [WaterMeter] = []
    private(set) var readingsTaken = 0
    private(set) var tariffCents = 0

    func install(serial: String) {
        meters.append(WaterMeter(serial: serial))
    }

    func walkRound(day: Int) {
        for (index, meter) in meters.enumerated() {
            let used = 90 + (day * 37 + index * 53) % 140 + (day % 30 == index ? 400 : 0)
            meter.record(day: day, litres: meter.current + used)
            readingsTaken += 1
            tariffCents += meter.lastConsumption * 3 / 10
        }
    }

    func report() {
        for meter in meters {
            print("\(meter.serial): \(meter.current) l, last \(meter.lastConsumption) l, peak \(meter.peakConsumption) l on day \(meter.peakDay)")
        }
    }
}

let utility = Utility()
for number in 1...12 {
    utility.install(serial: String(format: "WM-%04d", number * 37))
}
for day in 1...150 {
    utility.walkRound(day: day)
}
utility.report()
print("readings: \(utility.readingsTaken), billed: \(utility.tariffCents) ct")
