import Foundation

final class Address {
    let street: String
    let zip: Int
    init(street: String, zip: Int) { self.street = street; self.zip = zip }
}

final class Customer {
    let id: Int
    let name: String
    let mail: String
    let address: Address
    init(id: Int, name: String, mail: String, address: Address) {
        self.id = id; self.name = name; self.mail = mail; self.address = address
    }
}

protocol Rule { func accepts(_ c: Customer) -> Bool }
final class MailRule: Rule { func accepts(_ c: Customer) -> Bool { c.mail.contains("@") } }
final class ZipRule: Rule { func accepts(_ c: Customer) -> Bool { c.address.zip > 3000 && c.address.zip < 9000 } }

final class Registry {
    private var byID: [Int: Customer] = [:]
    private var byZip: [Int: [Customer]] = [:]
    func insert(_ c: Customer) -> Bool {
        if byID[c.id] != nil { return false }
        byID[c.id] = c
        byZip[c.address.zip, default: []].append(c)
        return true
    }
    var size: Int { byID.count }
}

final class Importer {
    private let rules: [Rule]
    private let registry: Registry
    private(set) var rejected = 0
    private(set) var duplicates = 0
    init(rules: [Rule], registry: Registry) { self.rules = rules; self.registry = registry }

    func decode(_ row: String) -> Customer? {
        let f = row.split(separator: ";").map(String.init)
        guard f.count == 5, let id = Int(f[0]), let zip = Int(f[4]) else { return nil }
        return Customer(id: id, name: f[1], mail: f[2], address: Address(street: f[3], zip: zip))
    }

    func load(_ rows: [String]) {
        for row in rows {
            guard let c = decode(row), rules.allSatisfy({ $0.accepts(c) }) else { rejected += 1; continue }
            if !registry.insert(c) { duplicates += 1 }
        }
    }
}

@main
enum ImportTool {
    static let registry = Registry()
    static func rows(_ batch: Int) -> [String] {
        (0..<700).map { i in
            let id = batch * 500 + i
            let mail = i % 5 == 0 ? "unknown" : "user\(id)@example.org"
            return "\(id);Customer number \(id);\(mail);Long Street Name \(i % 80);\(1000 + (id * 37) % 11000)"
        }
    }
    static func main() {
        let importer = Importer(rules: [MailRule(), ZipRule()], registry: registry)
        for batch in 0..<9 { importer.load(rows(batch)) }
        print("imported \(registry.size) rejected \(importer.rejected) duplicates \(importer.duplicates)")
    }
}
