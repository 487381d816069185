import Foundation

final class Page {
    let number: Int
    var bytes: [UInt8]
    var next: Page?
    fileprivate(set) var inUse = false
    init(number: Int, size: Int) {
        self.number = number
        bytes = [UInt8](repeating: 0, count: size)
    }
}

final class PagePool {
    private var freeHead: Page?
    private(set) var freeCount = 0
    private(set) var created = 0
    private let maxFree: Int
    private let pageSize: Int

    init(maxFree: Int, pageSize: Int) {
        self.maxFree = maxFree
        self.pageSize = pageSize
    }

    func acquire() -> Page {
        if let page = freeHead {
            freeHead = page.next
            page.next = nil
            freeCount -= 1
            page.inUse = true
            return page
        }
        created += 1
        let page = Page(number: created, size: pageSize)
        page.inUse = true
        return page
    }

    func release(_ page: Page) {
        page.inUse = false
        guard freeCount < maxFree else { return }
        page.next = freeHead
        freeHead = page
        freeCount += 1
    }
}

final class Transfer {
    let id: Int
    private(set) var pages: [Page] = []
    private(set) var remaining: Int
    init(id: Int, pages: Int) {
        self.id = id
        remaining = pages
    }

    func fill(from pool: PagePool) {
        guard remaining > 0 else { return }
        let page = pool.acquire()
        page.bytes[0] = UInt8(truncatingIfNeeded: id)
        pages.append(page)
        remaining -= 1
    }

    func finish(into pool: PagePool) -> Int {
        let sum = pages.reduce(0) { $0 + Int($1.bytes[0]) }
        for page in pages { pool.release(page) }
        pages.removeAll()
        return sum
    }
}

final class Catalog {
    private var pinned: [Int: Page] = [:]
    func pin(_ key: Int, from pool: PagePool) {
        guard pinned[key] == nil else { return }
        let page = pool.acquire()
        page.bytes[1] = UInt8(truncatingIfNeeded: key)
        pinned[key] = page
    }
    func checksum() -> Int { pinned.values.reduce(0) { $0 + Int($1.bytes[1]) } }
    var count: Int { pinned.count }
}

let pool = PagePool(maxFree: 40, pageSize: 1024)
let catalog = Catalog()
var running: [Transfer] = []
var bytesMoved = 0
for tick in 0..<1500 {
    let burst = tick % 300 > 250 ? 3 : (tick % 4 == 0 ? 1 : 0)
    for n in 0..<burst { running.append(Transfer(id: tick * 3 + n, pages: 2 + tick % 7)) }
    for transfer in running { transfer.fill(from: pool) }
    for transfer in running where transfer.remaining == 0 { bytesMoved += transfer.finish(into: pool) }
    running.removeAll { $0.remaining == 0 }
    if tick % 20 == 0 { catalog.pin(tick / 20, from: pool) }
    usleep(900)
}
for transfer in running { bytesMoved += transfer.finish(into: pool) }
running.removeAll()
print("moved \(bytesMoved), pages created \(pool.created)")
print("free \(pool.freeCount), catalog \(catalog.count) pages, checksum \(catalog.checksum())")
