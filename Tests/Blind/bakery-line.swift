final class Loaf {
    let batch: Int
    let number: Int
    var slices: [Int] = []
    init(batch: Int, number: Int) { self.batch = batch; self.number = number }
}

final class Shelf<T: AnyObject> {
    private var inbox: [T] = []
    private var outbox: [T] = []
    private(set) var peak = 0
    func put(_ t: T) {
        inbox.append(t)
        peak = max(peak, count)
    }
    func take() -> T? {
        if outbox.isEmpty {
            outbox = inbox.reversed()
            inbox.removeAll()
        }
        return outbox.popLast()
    }
    var count: Int { inbox.count + outbox.count }
}

final class Baker {
    private let shelf: Shelf<Loaf>
    private var batch = 0
    init(shelf: Shelf<Loaf>) { self.shelf = shelf }
    func bake(_ n: Int) {
        batch += 1
        for i in 0..<n { shelf.put(Loaf(batch: batch, number: i)) }
    }
}

final class Receipt {
    let loaf: Int
    let price: Int
    init(loaf: Int, price: Int) { self.loaf = loaf; self.price = price }
}

final class Seller {
    private let shelf: Shelf<Loaf>
    private(set) var sold = 0
    private(set) var income = 0
    private var last: Receipt?
    init(shelf: Shelf<Loaf>) { self.shelf = shelf }

    func serve(_ customers: Int) {
        for _ in 0..<customers {
            guard let loaf = shelf.take() else { return }
            sell(loaf, price: 350)
        }
    }
    func closing() {
        while let loaf = shelf.take() { sell(loaf, price: 175) }
    }
    private func sell(_ loaf: Loaf, price: Int) {
        loaf.slices = (0..<8).map { $0 * loaf.number }
        sold += 1
        income += price
        last = Receipt(loaf: loaf.number, price: price)
    }
}

let shelf = Shelf<Loaf>()
let baker = Baker(shelf: shelf)
let seller = Seller(shelf: shelf)
for hour in 0..<10 {
    for quarter in 0..<20 {
        baker.bake(12 + (hour + quarter) % 3)
        seller.serve(8 + quarter % 4)
    }
}
let backlog = shelf.count
seller.closing()
print("sold \(seller.sold) income \(seller.income) backlog \(backlog) peak \(shelf.peak) left \(shelf.count)")
