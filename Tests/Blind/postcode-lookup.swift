import Foundation

final class District {
    let code: String
    let depot: Int
    private(set) var parcels = 0

    init(code: String, depot: Int) {
        self.code = code
        self.depot = depot
    }

    func accept() { parcels += 1 }
}

final class TrieNode {
    var children: [UInt8: TrieNode] = [:]
    var district: District?
}

final class PostcodeTrie {
    private let root = TrieNode()
    private(set) var nodes = 1
    private(set) var districts = 0

    func insert(_ district: District) {
        var node = root
        for byte in district.code.utf8 {
            if let next = node.children[byte] {
                node = next
            } else {
                let next = TrieNode()
                node.children[byte] = next
                nodes += 1
                node = next
            }
        }
        if node.district == nil { districts += 1 }
        node.district = district
    }

    /// The district with the longest code that is a prefix of the postcode.
    func match(_ postcode: String) -> District? {
        var node = root
        var best: District?
        for byte in postcode.utf8 {
            guard let next = node.children[byte] else { break }
            node = next
            if let district = node.district { best = district }
        }
        return best
    }
}

struct GazetteerFile {
    let chunks = 60
    let rowsPerChunk = 20

    func chunk(_ index: Int) -> [String] {
        (0..<rowsPerChunk).map { row in
            let number = index * rowsPerChunk + row
            let outward = String(UnicodeScalar(UInt8(65 + number % 26)))
            let digits = String(10_000 + (number * 37) % 90_000)
            return "\(outward)\(digits);\(number % 9)"
        }
    }
}

struct Loader {
    enum Failure: Error { case badRow(String) }

    func parse(_ row: String) throws -> District {
        let fields = row.split(separator: ";")
        guard fields.count == 2, let depot = Int(fields[1]) else { throw Failure.badRow(row) }
        return District(code: String(fields[0]), depot: depot)
    }

    func load(_ file: GazetteerFile, into trie: PostcodeTrie) throws -> [String] {
        var codes: [String] = []
        for index in 0..<file.chunks {
            for row in file.chunk(index) {
                let district = try parse(row)
                trie.insert(district)
                codes.append(district.code)
            }
            usleep(4000)
        }
        return codes
    }
}

struct Parcel {
    let label: String
    let grams: Int
}

final class SortingLine {
    private let trie: PostcodeTrie
    private(set) var perDepot = [Int](repeating: 0, count: 9)
    private(set) var rejected = 0

    init(trie: PostcodeTrie) { self.trie = trie }

    func sort(_ parcel: Parcel) {
        guard let district = trie.match(parcel.label) else {
            rejected += 1
            return
        }
        district.accept()
        perDepot[district.depot] += parcel.grams
    }
}

let trie = PostcodeTrie()
let codes = try Loader().load(GazetteerFile(), into: trie)
print("loaded \(trie.districts) districts")

let line = SortingLine(trie: trie)
var cursor = 0
for shift in 0..<240 {
    for piece in 0..<20 {
        let code = codes[cursor % codes.count]
        cursor += 1
        let parcel = Parcel(label: piece == 13 && shift % 7 == 0 ? "?\(code)" : "\(code)XY\(piece)", grams: 100 + piece * 35)
        line.sort(parcel)
    }
    usleep(2000)
}
print("grams per depot \(line.perDepot), rejected \(line.rejected)")
