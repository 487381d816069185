import Foundation

protocol Service: AnyObject, Sendable {
    var label: String { get }
}

final class Database: Service {
    let label: String
    let pages: [UInt8]
    init(label: String) {
        self.label = label
        pages = [UInt8](repeating: 1, count: 8192)
    }
    func read(_ key: Int) -> Int { Int(pages[key % pages.count]) * key }
}

final class Mailer: Service {
    let label = "mailer"
}

final class RequestContext: Service {
    let label: String
    let user: Int
    init(user: Int) {
        self.user = user
        label = "request of \(user)"
    }
}

final class Repository: Service {
    let label: String
    private let database: Database
    private let context: RequestContext
    init(database: Database, context: RequestContext) {
        self.database = database
        self.context = context
        label = "repository \(context.user)"
    }
    func load(_ key: Int) -> Int { database.read(key + context.user) }
}

enum Lifetime: Sendable {
    case singleton, scoped
}

final class Registration: Sendable {
    let lifetime: Lifetime
    let factory: @Sendable (Scope) async -> any Service
    init(lifetime: Lifetime, factory: @escaping @Sendable (Scope) async -> any Service) {
        self.lifetime = lifetime
        self.factory = factory
    }
}

actor Container {
    private var registrations: [String: Registration] = [:]
    private var singletons: [String: any Service] = [:]

    func register(_ name: String, _ lifetime: Lifetime, _ factory: @escaping @Sendable (Scope) async -> any Service) {
        registrations[name] = Registration(lifetime: lifetime, factory: factory)
    }

    func registration(_ name: String) -> Registration? { registrations[name] }
    func singleton(_ name: String) -> (any Service)? { singletons[name] }

    func keep(_ service: any Service, as name: String) -> any Service {
        if let existing = singletons[name] { return existing }
        singletons[name] = service
        return service
    }

    func inventory() -> [String] { singletons.values.map(\.label).sorted() }
}

actor Scope {
    private let container: Container
    private var instances: [String: any Service] = [:]

    init(container: Container) { self.container = container }

    func put(_ service: any Service, as name: String) { instances[name] = service }

    func resolve(_ name: String) async -> any Service {
        if let existing = instances[name] { return existing }
        guard let registration = await container.registration(name) else { fatalError("no service \(name)") }
        if registration.lifetime == .singleton {
            if let shared = await container.singleton(name) { return shared }
            return await container.keep(registration.factory(self), as: name)
        }
        let created = await registration.factory(self)
        instances[name] = created
        return created
    }
}

struct Server: Sendable {
    let container: Container

    func handle(_ number: Int) async -> Int {
        let scope = Scope(container: container)
        await scope.put(RequestContext(user: number % 90), as: "context")
        let tenant = number / 60
        let repository = await scope.resolve("repository.\(tenant)") as! Repository
        if number % 25 == 0 { _ = await scope.resolve("mailer") }
        try? await Task.sleep(nanoseconds: 2_000_000)
        return repository.load(number)
    }
}

let container = Container()

@main
struct ServerApp {
    static func main() async {
        await container.register("mailer", .singleton) { _ in Mailer() }
        for tenant in 0..<12 {
            await container.register("database.\(tenant)", .singleton) { _ in Database(label: "database \(tenant)") }
            await container.register("repository.\(tenant)", .scoped) { scope in
                let database = await scope.resolve("database.\(tenant)") as! Database
                let context = await scope.resolve("context") as! RequestContext
                return Repository(database: database, context: context)
            }
        }
        let server = Server(container: container)
        var answer = 0
        for batch in 0..<180 {
            answer += await withTaskGroup(of: Int.self) { group in
                for slot in 0..<4 { group.addTask { await server.handle(batch * 4 + slot) } }
                return await group.reduce(0, +)
            }
        }
        let names = await container.inventory()
        print("answer \(answer)")
        print("singletons \(names.count): \(names.first!) … \(names.last!)")
    }
}
