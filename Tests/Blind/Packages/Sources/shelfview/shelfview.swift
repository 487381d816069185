import Foundation
import OpenCombine

struct Book: Equatable {
    let isbn: Int
    var title: String
    var price: Int
}

/// What the whole shop knows; lives as long as the process.
final class Catalogue {
    static let shared = Catalogue()
    let changes = PassthroughSubject<Book, Never>()
    let currency = CurrentValueSubject<String, Never>("EUR")
    private var books: [Int: Book] = [:]

    func load(_ count: Int) {
        for isbn in 0..<count { books[isbn] = Book(isbn: isbn, title: "Volume \(isbn)", price: 500 + isbn * 7 % 900) }
    }

    func book(_ isbn: Int) -> Book { books[isbn]! }

    func reprice(_ isbn: Int, to price: Int) {
        books[isbn]?.price = price
        if let book = books[isbn] { changes.send(book) }
    }
}

final class BookViewModel {
    @Published private(set) var label = ""
    @Published private(set) var quantity = 1
    private var book: Book
    private var cancellables: Set<AnyCancellable> = []
    private(set) var repaints = 0

    init(book: Book, catalogue: Catalogue) {
        self.book = book

        catalogue.changes
            .filter { $0.isbn == book.isbn }
            .removeDuplicates()
            .sink { [weak self] in self?.book = $0 }
            .store(in: &cancellables)

        $quantity
            .removeDuplicates()
            .map { quantity in "\(quantity) x \(book.title) (\(catalogue.currency.value))" }
            .sink { text in
                self.label = text
                self.repaints += 1
            }
            .store(in: &cancellables)
    }

    func more() { quantity += 1 }

    var total: Int { book.price * quantity }
}

final class ShelfScreen {
    private var models: [BookViewModel] = []
    private let catalogue: Catalogue

    init(catalogue: Catalogue) { self.catalogue = catalogue }

    func show(_ isbns: [Int]) {
        models = isbns.map { BookViewModel(book: catalogue.book($0), catalogue: catalogue) }
    }

    func shop() -> Int {
        for model in models { model.more() }
        return models.reduce(0) { $0 + $1.total }
    }
}

@main
struct ShelfView {
    static func main() {
        let catalogue = Catalogue.shared
        catalogue.load(1000)
        var revenue = 0
        for visitor in 0..<50 {
            let screen = ShelfScreen(catalogue: catalogue)
            screen.show((0..<8).map { (visitor * 8 + $0) % 1000 })
            for isbn in stride(from: visitor, to: 1000, by: 250) { catalogue.reprice(isbn, to: 300 + visitor) }
            revenue += screen.shop()
            if visitor % 10 == 0 { catalogue.currency.send(visitor % 20 == 0 ? "EUR" : "CHF") }
            Thread.sleep(forTimeInterval: 0.015)
        }
        print("revenue \(revenue)")
    }
}
