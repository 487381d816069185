// A parcel desk: vans deliver parcels from several threads, customers ask for theirs one by one.
import Foundation

final class Parcel {
    let code: String
    let shelf: Int
    let grams: Int
    var inquiries = 0

    init(code: String, shelf: Int, grams: Int) {
        self.code = code
        self.shelf = shelf
        self.grams = grams
    }
}

protocol ParcelStore: AnyObject {
    func accept(_ parcel: Parcel)
    func find(_ code: String) -> Parcel?
    func handOut(_ code: String) -> Parcel?
}

final class Desk: ParcelStore {
    private let lock = NSLock()
    private var byCode: [String: Parcel] = [:]
    private var byShelf: [Int: [String: Parcel]] = [:]
    private(set) var accepted = 0
    private(set) var collected = 0

    func accept(_ parcel: Parcel) {
        lock.withLock {
            byCode[parcel.code] = parcel
            byShelf[parcel.shelf, default: [:]][parcel.code] = parcel
            accepted += 1
        }
    }

    func find(_ code: String) -> Parcel? {
        lock.withLock {
            let parcel = byCode[code]
            parcel?.inquiries += 1
            return parcel
        }
    }

    func handOut(_ code: String) -> Parcel? {
        lock.withLock {
            guard let parcel = byCode.removeValue(forKey: code) else { return nil }
            byShelf[parcel.shelf]?[code] = nil
            if byShelf[parcel.shelf]?.isEmpty == true {
                byShelf[parcel.shelf] = nil
            }
            collected += 1
            return parcel
        }
    }

    func load(of shelf: Int) -> Int {
        lock.withLock {
            byShelf[shelf]?.values.reduce(0) { $0 + $1.grams } ?? 0
        }
    }

    var waiting: Int { lock.withLock { byCode.count } }
}

final class Van {
    let number: Int
    let count: Int

    init(number: Int, count: Int) {
        self.number = number
        self.count = count
    }

    func unload(to desk: Desk) {
        for index in 0..<count {
            let grams = 150 + (index * 7_717 + number * 991) % 9_000
            desk.accept(Parcel(code: Van.code(number, index), shelf: (index + number) % 25, grams: grams))
            if index % 40 == 0 {
                usleep(2_000)
            }
        }
    }

    static func code(_ van: Int, _ index: Int) -> String {
        "V\(van)-\(index)"
    }
}

func inParallel(_ count: Int, _ work: @escaping (Int) -> Void) {
    let done = DispatchSemaphore(value: 0)
    for index in 0..<count {
        let thread = Thread {
            work(index)
            done.signal()
        }
        thread.name = "worker-\(index)"
        thread.start()
    }
    for _ in 0..<count {
        done.wait()
    }
}

let desk = Desk()
let vans = (0..<3).map { Van(number: $0, count: 700) }
inParallel(vans.count) { vans[$0].unload(to: desk) }
print("accepted \(desk.accepted), waiting \(desk.waiting)")

let tally = NSLock()
var found = 0
var unknown = 0
var gramsCarried = 0

for evening in 0..<4 {
    inParallel(2) { counter in
        for customer in 0..<350 {
            let serial = evening * 350 + customer
            let code = Van.code((serial + counter) % 3, counter == 0 ? serial % 350 : 350 + serial % 380)
            if let parcel = desk.find(code) {
                tally.withLock { found += 1 }
                if (parcel.grams + evening) % 4 == 0, let taken = desk.handOut(code) {
                    tally.withLock { gramsCarried += taken.grams }
                }
            } else {
                tally.withLock { unknown += 1 }
            }
            if customer % 50 == 0 {
                usleep(1_500)
            }
        }
    }
    print("evening \(evening + 1): waiting \(desk.waiting), shelf 7 carries \(desk.load(of: 7)) g")
}
print("found \(found), unknown \(unknown), collected \(desk.collected), carried \(gramsCarried / 1000) kg")
