import Foundation

final class Sample {
    let minute: Int
    let rpm: Int
    let fuelLitres: Double
    fileprivate(set) var successor: Sample?

    init(minute: Int, rpm: Int, fuelLitres: Double) {
        self.minute = minute
        self.rpm = rpm
        self.fuelLitres = fuelLitres
    }
}

final class TelemetryStream {
    fileprivate private(set) var end = Sample(minute: -1, rpm: 0, fuelLitres: 0)
    private var readers: [ObjectIdentifier: Reader] = [:]
    private(set) var emitted = 0

    func emit(minute: Int, rpm: Int, fuelLitres: Double) {
        let sample = Sample(minute: minute, rpm: rpm, fuelLitres: fuelLitres)
        end.successor = sample
        end = sample
        emitted += 1
    }

    func attach(_ purpose: String) -> Reader {
        let reader = Reader(purpose: purpose, stream: self)
        readers[ObjectIdentifier(reader)] = reader
        return reader
    }

    fileprivate func detach(_ reader: Reader) {
        readers.removeValue(forKey: ObjectIdentifier(reader))
    }

    var attached: Int { readers.count }
}

final class Reader {
    let purpose: String
    private unowned let stream: TelemetryStream
    private var position: Sample?
    private(set) var count = 0
    private(set) var fuel = 0.0
    private(set) var peakRpm = 0

    fileprivate init(purpose: String, stream: TelemetryStream) {
        self.purpose = purpose
        self.stream = stream
        position = stream.end
    }

    func catchUp() {
        while let sample = position?.successor {
            position = sample
            count += 1
            fuel += sample.fuelLitres
            peakRpm = max(peakRpm, sample.rpm)
        }
    }

    func close() {
        position = nil
        stream.detach(self)
    }
}

let stream = TelemetryStream()
let bridge = stream.attach("bridge display")
let engineer = stream.attach("engine room")
var finished: [Reader] = []
var manoeuvre: Reader?
var rpm = 90

for minute in 0..<2400 {
    rpm += (minute * 7919 % 11) - 5
    rpm = min(max(rpm, 60), 120)
    stream.emit(minute: minute, rpm: rpm, fuelLitres: Double(rpm * rpm) / 1500)
    bridge.catchUp()
    if minute % 10 == 9 { engineer.catchUp() }

    switch minute % 300 {
    case 40:
        manoeuvre = stream.attach("manoeuvre \(minute / 300 + 1)")
    case 41...90:
        if minute % 5 == 0 { manoeuvre?.catchUp() }
    case 91:
        if let reader = manoeuvre {
            reader.catchUp()
            reader.close()
            finished.append(reader)
            manoeuvre = nil
        }
    default:
        break
    }
}
engineer.catchUp()

print("emitted \(stream.emitted), attached readers \(stream.attached)")
for reader in [bridge, engineer] + finished {
    print("\(reader.purpose): \(reader.count) samples, peak \(reader.peakRpm) rpm, \(String(format: "%.1f", reader.fuel)) l")
}
