import Foundation
import Observation

@Observable
final class ShopSettings {
    static let shared = ShopSettings()
    var currency = "EUR"
    var bannerText = ""
}

struct Product {
    let name: String
    let cents: Int
}

final class PriceRow {
    private let product: Product
    private(set) var label = ""
    private(set) var needsUpdate = false

    init(product: Product) { self.product = product }

    func bind() {
        label = withObservationTracking {
            "\(product.name): \(product.cents / 100).\(product.cents % 100) \(ShopSettings.shared.currency)"
        } onChange: {
            self.needsUpdate = true
        }
    }
}

final class Banner {
    private(set) var text = ""
    private(set) var shown = 0

    func bind() {
        text = withObservationTracking {
            ShopSettings.shared.bannerText
        } onChange: { [weak self] in
            self?.shown += 1
        }
    }
}

final class CategoryPage {
    private let rows: [PriceRow]
    let banner = Banner()

    init(products: [Product]) {
        rows = products.map { PriceRow(product: $0) }
    }

    func load() {
        banner.bind()
        for row in rows { row.bind() }
    }

    var width: Int { rows.map(\.label.count).max() ?? 0 }
}

@main
struct Main {
    static func main() {
        var width = 0
        var banners = 0
        for category in 0..<8 {
            let products = (0..<5).map { Product(name: "item \(category)-\($0)", cents: 199 + 37 * $0) }
            let page = CategoryPage(products: products)
            page.load()
            ShopSettings.shared.bannerText = "Sale in category \(category)"
            width = max(width, page.width)
            banners += page.banner.shown
        }
        print("width \(width) banners \(banners) currency \(ShopSettings.shared.currency)")
    }
}
