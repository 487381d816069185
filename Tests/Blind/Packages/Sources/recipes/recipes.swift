import Collections
import FlyingFox
import FlyingSocks
import Foundation

final class Recipe: Sendable {
    let id: Int
    let title: String
    let steps: [String]
    init(id: Int) {
        self.id = id
        title = "Soup number \(id)"
        steps = (0..<(3 + id % 4)).map { "Step \($0): stir for \($0 * 3) minutes" }
    }
}

final class Page {
    let recipe: Recipe
    let html: String
    init(recipe: Recipe) {
        self.recipe = recipe
        html = "<h1>\(recipe.title)</h1>" + recipe.steps.map { "<p>\($0)</p>" }.joined()
    }
}

/// A tree of categories; children know their parent but do not own it.
final class Category {
    let name: String
    weak var parent: Category?
    private(set) var children: [Category] = []
    var recipes: [Recipe] = []

    init(name: String) { self.name = name }

    func add(_ child: Category) {
        child.parent = self
        children.append(child)
    }

    var path: String { (parent.map { $0.path + "/" } ?? "") + name }
}

final class CookTimer: Sendable {
    let recipe: Recipe
    let seconds: Double
    init(recipe: Recipe, seconds: Double) {
        self.recipe = recipe
        self.seconds = seconds
    }
}

actor Cookbook {
    private let root = Category(name: "all")
    private let recipes: [Recipe]
    private var pages: OrderedDictionary<Int, Page> = [:]
    private var timers: [ObjectIdentifier: CookTimer] = [:]
    private var hits = 0

    init(count: Int) {
        let recipes = (0..<count).map(Recipe.init)
        self.recipes = recipes
        for course in 0..<5 {
            let category = Category(name: "course\(course)")
            root.add(category)
            for season in 0..<4 {
                let child = Category(name: "season\(season)")
                child.recipes = recipes.filter { $0.id % 20 == course * 4 + season }
                category.add(child)
            }
        }
    }

    func page(_ id: Int) -> String {
        let key = id % recipes.count
        if let page = pages.removeValue(forKey: key) {
            hits += 1
            pages[key] = page
            return page.html
        }
        let page = Page(recipe: recipes[key])
        pages[key] = page
        if pages.count > 100 { pages.removeFirst() }
        return page.html
    }

    func cook(_ id: Int, seconds: Double) async throws -> String {
        let timer = CookTimer(recipe: recipes[id % recipes.count], seconds: seconds)
        timers[ObjectIdentifier(timer)] = timer
        defer { timers[ObjectIdentifier(timer)] = nil }
        try await Task.sleep(for: .seconds(seconds))
        return "\(timer.recipe.title) is ready"
    }

    func index() -> String { root.children.flatMap(\.children).map { "\($0.path): \($0.recipes.count)" }.joined(separator: "\n") }
}

func openLine(_ port: UInt16) -> Int32 {
    let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    _ = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
    return fd
}

func request(_ fd: Int32, _ path: String, wait: Bool = true) {
    let head = "GET \(path) HTTP/1.1\r\nHost: kitchen\r\nConnection: keep-alive\r\n\r\n"
    _ = head.withCString { Glibc.send(fd, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    guard wait else { return }
    var text = ""
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
        let n = recv(fd, &chunk, chunk.count, 0)
        if n <= 0 { return }
        text += String(decoding: chunk[0..<n], as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n"),
              let field = text.range(of: "content-length: ", options: .caseInsensitive) else { continue }
        if text[end.upperBound...].utf8.count >= Int(text[field.upperBound...].prefix { $0.isNumber }) ?? 0 { return }
    }
}

func kitchens(port: UInt16) {
    var tablets = (0..<36).map { _ in openLine(port) }
    for round in 0..<20 {
        for (index, tablet) in tablets.enumerated() { request(tablet, "/recipe/\((index * index + round * 11) % 900)") }
        if round % 7 == 3 {
            for index in 0..<9 {
                close(tablets[index])
                tablets[index] = openLine(port)
            }
        }
    }
    request(tablets[0], "/index")
    for (index, tablet) in tablets.prefix(12).enumerated() { request(tablet, "/cook/\(index)/100") }
    for (index, tablet) in tablets.suffix(20).enumerated() { request(tablet, "/cook/\(index)/20000", wait: false) }
    Thread.sleep(forTimeInterval: 0.4)
    kill(getpid(), SIGTERM)
}

@main
struct Recipes {
    static let cookbook = Cookbook(count: 700)

    static func main() async throws {
        let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0), logger: .disabled)
        await server.appendRoute("GET /recipe/:id") { (request: HTTPRequest, id: Int) in
            HTTPResponse(statusCode: .ok, body: Data(await cookbook.page(id).utf8))
        }
        await server.appendRoute("GET /cook/:id/:milliseconds") { (request: HTTPRequest, id: Int, milliseconds: Int) in
            HTTPResponse(statusCode: .ok, body: Data(try await cookbook.cook(id, seconds: Double(milliseconds) / 1000).utf8))
        }
        await server.appendRoute("GET /index") { _ in
            HTTPResponse(statusCode: .ok, body: Data(await cookbook.index().utf8))
        }
        let running = Task { try await server.run() }
        try await server.waitUntilListening()
        if case .ip4(_, let port)? = await server.listeningAddress {
            print("ready")
            Thread.detachNewThread { kitchens(port: port) }
        }
        try await running.value
    }
}
