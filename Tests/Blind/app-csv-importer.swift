import Foundation

final class Category {
    let name: String
    private(set) var uses = 0
    init(name: String) { self.name = name }
    func use() -> Category {
        uses += 1
        return self
    }
}

final class Row {
    let line: Int
    let fields: [Substring]
    init(line: Int, fields: [Substring]) {
        self.line = line
        self.fields = fields
    }
}

final class Product {
    let sku: String
    let category: Category
    var price: Int
    var stock: Int
    init(sku: String, category: Category, price: Int, stock: Int) {
        self.sku = sku
        self.category = category
        self.price = price
        self.stock = stock
    }
}

final class Problem {
    let file: String
    let line: Int
    let text: String
    init(file: String, line: Int, text: String) {
        self.file = file
        self.line = line
        self.text = text
    }
}

final class CategoryTable {
    private var table: [String: Category] = [:]
    func intern(_ name: Substring) -> Category {
        let key = name.lowercased()
        if let category = table[key] { return category.use() }
        let category = Category(name: key)
        table[key] = category
        return category.use()
    }
    var sorted: [Category] { table.values.sorted { $0.uses > $1.uses } }
}

final class Catalogue {
    private var products: [String: Product] = [:]
    let categories = CategoryTable()
    private(set) var updates = 0

    func merge(_ row: Row) throws {
        guard row.fields.count == 4 else { throw ImportError.columns(row.fields.count) }
        guard let price = Int(row.fields[2]) else { throw ImportError.number(String(row.fields[2])) }
        guard let stock = Int(row.fields[3]) else { throw ImportError.number(String(row.fields[3])) }
        let sku = String(row.fields[0])
        if let product = products[sku] {
            product.price = price
            product.stock += stock
            updates += 1
        } else {
            products[sku] = Product(sku: sku, category: categories.intern(row.fields[1]), price: price, stock: stock)
        }
    }

    func value(of category: Category) -> Int {
        products.values.lazy.filter { $0.category === category }.reduce(0) { $0 + $1.price * $1.stock }
    }

    var count: Int { products.count }
    func cheapest(_ n: Int) -> [Product] { Array(products.values.sorted { ($0.price, $0.sku) < ($1.price, $1.sku) }.prefix(n)) }
}

enum ImportError: Error {
    case columns(Int)
    case number(String)
}

final class Importer {
    private let catalogue: Catalogue
    private var problems: [Problem] = []
    private(set) var lines = 0

    init(catalogue: Catalogue) { self.catalogue = catalogue }

    func load(file: String, text: String) {
        var rows: [Row] = []
        for (index, line) in text.split(separator: "\n").enumerated() {
            rows.append(Row(line: index + 1, fields: line.split(separator: ";", omittingEmptySubsequences: false)))
        }
        for row in rows {
            lines += 1
            do {
                try catalogue.merge(row)
            } catch {
                problems.append(Problem(file: file, line: row.line, text: "\(error)"))
            }
        }
    }

    func printProblems() {
        let grouped = Dictionary(grouping: problems, by: \.text)
        print("\(problems.count) problems of \(grouped.count) kinds")
        for (text, list) in grouped.sorted(by: { $0.key < $1.key }).prefix(4) {
            let places = list.prefix(3).map { "\($0.file):\($0.line)" }.joined(separator: ", ")
            print("  \(text): \(places)")
        }
    }
}

func makeFile(_ number: Int) -> String {
    var text = ""
    let names = ["Tools", "garden", "PAINT", "lamps", "Wood", "wire", "Tiles"]
    for line in 0..<40 {
        let sku = "SKU\((number * 23 + line * 7) % 3100)"
        let category = names[(number + line) % names.count]
        if (number * 40 + line) % 37 == 0 {
            text += "\(sku);\(category);n/a;3\n"
        } else if (number * 40 + line) % 53 == 0 {
            text += "\(sku);\(category)\n"
        } else {
            text += "\(sku);\(category);\(100 + (line * number) % 900);\(line % 12)\n"
        }
    }
    return text
}

let catalogue = Catalogue()
let importer = Importer(catalogue: catalogue)
for number in 0..<160 {
    importer.load(file: "supplier-\(number).csv", text: makeFile(number))
    usleep(9000)
}
print("\(importer.lines) lines, \(catalogue.count) products, \(catalogue.updates) updates")
for category in catalogue.categories.sorted {
    print("  \(category.name): \(category.uses) products, value \(catalogue.value(of: category))")
}
print("cheapest: \(catalogue.cheapest(3).map(\.sku))")
importer.printProblems()
