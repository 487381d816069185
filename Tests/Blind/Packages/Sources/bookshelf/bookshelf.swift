import Collections
import Foundation

/// A book that was fetched from the stacks.
final class Book {
    let number: Int
    let title: String
    private let pages: [String]
    weak var previousOnShelf: Book?

    init(number: Int) {
        self.number = number
        title = "Volume \(number)"
        pages = (0..<12).map { "\(number)/\($0)" }
    }

    func page(_ index: Int) -> String { pages[index % pages.count] }
}

struct DueDate: Comparable {
    let tick: Int
    let number: Int

    static func < (left: DueDate, right: DueDate) -> Bool {
        (left.tick, left.number) < (right.tick, right.number)
    }
}

/// The reading room: at most `capacity` books, each for at most `stay` ticks.
final class ReadingRoom {
    private var books: OrderedDictionary<Int, Book> = [:]
    private var due = Heap<DueDate>()
    private var deadlines: [Int: Int] = [:]
    private let capacity: Int
    private let stay: Int
    private var tick = 0
    private(set) var fetched = 0
    private(set) var returned = 0

    init(capacity: Int, stay: Int) {
        self.capacity = capacity
        self.stay = stay
    }

    func advance() {
        tick += 1
        while let first = due.min, first.tick <= tick {
            due.removeMin()
            // A book that was read again has a later date in the heap.
            if deadlines[first.number] == first.tick { giveBack(first.number) }
        }
    }

    func read(_ number: Int, page: Int) -> String {
        let book: Book
        if let known = books.removeValue(forKey: number) {
            book = known
        } else {
            book = Book(number: number)
            book.previousOnShelf = books.elements.last?.value
            fetched += 1
        }
        books[number] = book
        if deadlines[number] != tick + stay {
            deadlines[number] = tick + stay
            due.insert(DueDate(tick: tick + stay, number: number))
        }
        if books.count > capacity { giveBack(books.elements[0].key) }
        return book.page(page)
    }

    private func giveBack(_ number: Int) {
        guard books.removeValue(forKey: number) != nil else { return }
        deadlines.removeValue(forKey: number)
        returned += 1
    }

    var present: Int { books.count }
    var dates: Int { due.count }
}

struct Wish {
    let number: Int
    let page: Int
}

/// Readers queue up and are served a few at a time.
struct Desk {
    private var queue: Deque<Wish> = []
    private var seed = 7

    mutating func arrive(_ count: Int) {
        for _ in 0..<count {
            seed = (seed * 1_103 + 12_345) % 65_536
            queue.append(Wish(number: seed % 900, page: seed % 12))
        }
    }

    mutating func serve(upTo limit: Int, in room: ReadingRoom) -> Int {
        var letters = 0
        for _ in 0..<min(limit, queue.count) {
            let wish = queue.removeFirst()
            letters += room.read(wish.number, page: wish.page).count
        }
        return letters
    }

    var waiting: Int { queue.count }
}

@main
struct Bookshelf {
    static let room = ReadingRoom(capacity: 250, stay: 40)

    static func main() {
        var desk = Desk()
        var letters = 0
        for hour in 0..<120 {
            desk.arrive(hour % 10 == 0 ? 60 : 22)
            letters += desk.serve(upTo: 25, in: room)
            room.advance()
            usleep(8_000)
        }
        usleep(300_000)
        print("\(room.present) books in the room, \(room.fetched) fetched, \(room.returned) returned, "
            + "\(desk.waiting) readers waiting, \(letters) letters, \(room.dates > 0)")
    }
}
