import Foundation

struct LineItem {
    let text: String
    let quantity: Int
    let cents: Int
}

struct RenderRequest {
    let traceID: UInt64
    let customer: String
    let template: String
    let items: [LineItem]
}

final class Template {
    let name: String
    let header: [String]
    private(set) var uses = 0

    init(name: String) {
        self.name = name
        self.header = ["== \(name.uppercased()) ==", "Keystone Paper Works", ""]
    }

    func markUse() { uses += 1 }
}

final class RenderedPage {
    let bytes: [UInt8]
    let total: Int

    init(bytes: [UInt8], total: Int) {
        self.bytes = bytes
        self.total = total
    }
}

final class PageCache {
    struct Key: Hashable {
        let template: String
        let customer: String
        let fingerprint: Int
        let traceID: UInt64
    }

    private var pages: [Key: RenderedPage] = [:]
    private let lock = NSLock()
    private(set) var lookups = 0

    func page(for key: Key, make: () -> RenderedPage) -> RenderedPage {
        lock.lock()
        defer { lock.unlock() }
        lookups += 1
        if let page = pages[key] { return page }
        let page = make()
        pages[key] = page
        return page
    }
}

final class Renderer {
    private var templates: [String: Template] = [:]
    private let cache = PageCache()

    private func template(_ name: String) -> Template {
        if let known = templates[name] { return known }
        let loaded = Template(name: name)
        templates[name] = loaded
        return loaded
    }

    private func fingerprint(_ items: [LineItem]) -> Int {
        items.reduce(17) { ($0 &* 31) &+ $1.quantity &* $1.cents &+ $1.text.utf8.count }
    }

    func render(_ request: RenderRequest) -> RenderedPage {
        let key = PageCache.Key(
            template: request.template,
            customer: request.customer,
            fingerprint: fingerprint(request.items),
            traceID: request.traceID)
        let template = template(request.template)
        template.markUse()
        return cache.page(for: key) {
            var lines = template.header
            var total = 0
            lines.append("Invoice for \(request.customer)")
            for item in request.items {
                let sum = item.quantity * item.cents
                total += sum
                lines.append("\(item.quantity) x \(item.text): \(sum / 100).\(sum % 100)")
            }
            lines.append("Total \(total / 100).\(total % 100)")
            return RenderedPage(bytes: Array(lines.joined(separator: "\n").utf8), total: total)
        }
    }

    var summary: String {
        templates.values.sorted { $0.name < $1.name }
            .map { "\($0.name)=\($0.uses)" }
            .joined(separator: " ")
    }
}

struct Frontend {
    let renderer: Renderer
    let customers = ["Abel & Co", "Brook Ltd", "Corvid", "Dale Farm", "Elm Press", "Fjord AS"]
    let kinds = ["invoice", "reminder", "credit"]
    var traceID: UInt64 = 0x5000

    mutating func handle(number: Int) -> Int {
        traceID += 1
        let customer = number % customers.count
        let request = RenderRequest(
            traceID: traceID,
            customer: customers[customer],
            template: kinds[number % kinds.count],
            items: (1...4).map {
                LineItem(text: "paper grade \($0)", quantity: customer + $0, cents: 125 * $0)
            })
        let page = renderer.render(request)
        return page.bytes.count + page.total
    }
}

let renderer = Renderer()
var frontend = Frontend(renderer: renderer)
var sent = 0
for number in 0..<1200 {
    sent += frontend.handle(number: number)
    if number % 4 == 3 { usleep(1800) }
}
print("sent \(sent); templates \(renderer.summary)")
