import Foundation

final class Specimen {
    let barcode: String
    let genus: String
    let species: String
    let year: Int
    let altitude: Int

    init(barcode: String, genus: String, species: String, year: Int, altitude: Int) {
        self.barcode = barcode
        self.genus = genus
        self.species = species
        self.year = year
        self.altitude = altitude
    }
}

enum ImportError: Error {
    case badRow(Int)
}

final class Catalog {
    static let main = Catalog()

    private var byBarcode: [String: Specimen] = [:]
    private var byTaxon: [String: [Specimen]] = [:]
    private(set) var duplicates = 0

    func add(_ specimen: Specimen) {
        guard byBarcode[specimen.barcode] == nil else {
            duplicates += 1
            return
        }
        byBarcode[specimen.barcode] = specimen
        byTaxon["\(specimen.genus) \(specimen.species)", default: []].append(specimen)
    }

    func specimen(_ barcode: String) -> Specimen? { byBarcode[barcode] }

    func altitudeRange(genus: String, species: String) -> ClosedRange<Int>? {
        guard let all = byTaxon["\(genus) \(species)"], !all.isEmpty else { return nil }
        let altitudes = all.map { $0.altitude }
        return altitudes.min()!...altitudes.max()!
    }

    func perDecade() -> [(decade: Int, count: Int)] {
        var counts: [Int: Int] = [:]
        for s in byBarcode.values { counts[s.year / 10 * 10, default: 0] += 1 }
        return counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    var count: Int { byBarcode.count }
    var taxa: [String] { byTaxon.keys.sorted() }
}

struct SheetImporter {
    let catalog: Catalog

    func importRow(_ row: String, line: Int) throws {
        let columns = row.components(separatedBy: ",")
        guard columns.count == 5, let year = Int(columns[3]), let altitude = Int(columns[4]) else {
            throw ImportError.badRow(line)
        }
        catalog.add(Specimen(barcode: columns[0], genus: columns[1], species: columns[2],
                             year: year, altitude: altitude))
    }
}

@main
enum Herbarium {
    static let flora: [(String, [String])] = [
        ("Gentiana", ["acaulis", "verna", "lutea"]),
        ("Saxifraga", ["aizoides", "paniculata"]),
        ("Carex", ["nigra", "flava", "curvula", "firma"]),
        ("Salix", ["herbacea", "retusa"]),
    ]

    static func row(_ n: Int) -> String {
        let h = (n * 2_654_435) % 1_000_003
        let (genus, species) = flora[h % flora.count]
        let name = species[(h / 7) % species.count]
        let barcode = "W\(100_000 + (n % 41 == 40 ? n - 3 : n))"
        let altitude = n % 211 == 100 ? "n/a" : "\(400 + (h / 13) % 2400)"
        return "\(barcode),\(genus),\(name),\(1890 + h % 130),\(altitude)"
    }

    static func main() {
        let importer = SheetImporter(catalog: .main)
        var rejected = 0
        for n in 0..<2300 {
            do {
                try importer.importRow(row(n), line: n)
            } catch {
                rejected += 1
            }
        }
        let catalog = Catalog.main
        print("catalogued \(catalog.count), duplicates \(catalog.duplicates), rejected rows \(rejected)")
        for taxon in catalog.taxa {
            let parts = taxon.split(separator: " ").map(String.init)
            if let range = catalog.altitudeRange(genus: parts[0], species: parts[1]) {
                print("\(taxon): \(range.lowerBound)-\(range.upperBound) m")
            }
        }
        for (decade, count) in catalog.perDecade() where decade % 50 == 0 {
            print("\(decade)s: \(count)")
        }
        var yearSum = 0
        for n in stride(from: 0, to: 2300, by: 17) {
            if let s = catalog.specimen("W\(100_000 + n)") { yearSum += s.year }
        }
        print("year sum \(yearSum)")
    }
}
