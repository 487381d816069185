import Foundation

/// A moisture probe pushed into the soil for one survey.
final class SoilProbe {
    let serial: Int
    let row: Int
    private var moisture: Double

    init(serial: Int, row: Int) {
        self.serial = serial
        self.row = row
        self.moisture = 0.2 + Double(serial % 17) / 40
    }

    func settle() { moisture = moisture * 0.97 + 0.01 }

    var reading: Double { moisture }
}

final class ProbeRef {
    weak var probe: SoilProbe?

    init(_ probe: SoilProbe) { self.probe = probe }
}

/// Knows the probes by serial number without owning them.
final class ProbeDirectory {
    static let shared = ProbeDirectory()
    private var table: [Int: ProbeRef] = [:]

    func enroll(_ probe: SoilProbe) {
        let ref = ProbeRef(probe)
        table[probe.serial] = ref
    }

    func find(_ serial: Int) -> SoilProbe? {
        table[serial]?.probe
    }
}

final class Survey {
    let round: Int
    private var probes: [SoilProbe] = []

    init(round: Int) { self.round = round }

    func plant(_ count: Int, from firstSerial: Int) {
        for index in 0..<count {
            let probe = SoilProbe(serial: firstSerial + index, row: index % 8)
            ProbeDirectory.shared.enroll(probe)
            probes.append(probe)
        }
    }

    func measure() -> [Int: Double] {
        for probe in probes { probe.settle() }
        var rows: [Int: Double] = [:]
        for probe in probes { rows[probe.row, default: 0] += probe.reading }
        return rows
    }
}

struct Irrigation {
    private(set) var litres = 0.0

    mutating func water(_ rows: [Int: Double]) {
        for row in rows.keys.sorted() where rows[row]! < 1.1 {
            litres += (1.1 - rows[row]!) * 40
        }
    }
}

func spotCheck(around serial: Int) -> Int {
    (serial - 5...serial + 5).filter { ProbeDirectory.shared.find($0) != nil }.count
}

var irrigation = Irrigation()
var serial = 10_000
var checked = 0
for round in 0..<40 {
    let survey = Survey(round: round)
    survey.plant(20, from: serial)
    irrigation.water(survey.measure())
    usleep(9_000)
    irrigation.water(survey.measure())
    checked += spotCheck(around: serial + 10)
    serial += 20
}
print("40 surveys, \(Int(irrigation.litres)) litres, \(checked) probes checked")
