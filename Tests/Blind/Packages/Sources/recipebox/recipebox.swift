import AsyncHTTPClient
import Foundation
import Hummingbird
import Logging

struct Ingredient: Sendable {
    let name: String
    let grams: Double
}

struct Recipe: Sendable {
    let slug: String
    let title: String
    let servings: Int
    let ingredients: [Ingredient]
    let method: [String]
}

/// Turns one recipe into the printable card that the kitchen tablet shows.
final class CardRenderer {
    private let recipe: Recipe
    private let servings: Int
    private var sections: [() -> Void] = []
    private var lines: [String] = []

    init(recipe: Recipe, servings: Int) {
        self.recipe = recipe
        self.servings = servings
        sections = [
            { self.lines.append("# \(self.recipe.title) for \(self.servings)") },
            { self.writeIngredients() },
            { self.writeMethod() },
        ]
    }

    func render() -> String {
        lines.reserveCapacity(recipe.ingredients.count + recipe.method.count + 4)
        for section in sections {
            section()
            lines.append("")
        }
        return lines.joined(separator: "\n")
    }

    private func writeIngredients() {
        let factor = Double(servings) / Double(recipe.servings)
        for item in recipe.ingredients {
            lines.append("- \(Int(item.grams * factor)) g \(item.name)")
        }
    }

    private func writeMethod() {
        for (index, step) in recipe.method.enumerated() {
            lines.append("\(index + 1). \(step)")
        }
    }
}

struct Cookbook: Sendable {
    private let recipes: [String: Recipe]

    init() {
        let pantry = ["flour", "butter", "sugar", "milk", "salt", "rye", "honey"]
        var all: [String: Recipe] = [:]
        for number in 1...40 {
            let items = pantry.prefix(3 + number % 5).map { Ingredient(name: $0, grams: Double(20 * number)) }
            let slug = "recipe-\(number)"
            all[slug] = Recipe(
                slug: slug, title: "Recipe No. \(number)", servings: 2 + number % 4,
                ingredients: items, method: ["Mix everything.", "Rest for \(number) minutes.", "Bake."])
        }
        recipes = all
    }

    func find(_ slug: String) -> Recipe? { recipes[slug] }
    var slugs: [String] { recipes.keys.sorted() }
}

@main
struct RecipeBox {
    static func main() async throws {
        let cookbook = Cookbook()
        let router = Router()
        router.get("recipes") { _, _ in
            cookbook.slugs.joined(separator: "\n")
        }
        router.get("recipes/:slug/card") { request, context -> String in
            let slug = try context.parameters.require("slug")
            guard let recipe = cookbook.find(slug) else { throw HTTPError(.notFound) }
            let servings = request.uri.queryParameters.get("servings", as: Int.self) ?? recipe.servings
            return CardRenderer(recipe: recipe, servings: servings).render()
        }

        let (ports, portsIn) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "recipebox")
        logger.logLevel = .critical
        let app = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                portsIn.yield(channel.localAddress?.port ?? 0)
                portsIn.finish()
            },
            logger: logger
        )

        let served = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                do { try await app.run() } catch is CancellationError {}
                return 0
            }
            group.addTask { try await tabletSession(ports) }
            var total = 0
            while let count = try await group.next() {
                total += count
                group.cancelAll()
            }
            return total
        }
        print("served \(served) cards")
    }

    static func tabletSession(_ ports: AsyncStream<Int>) async throws -> Int {
        var iterator = ports.makeAsyncIterator()
        guard let port = await iterator.next() else { return 0 }
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        var cards = 0
        for round in 0..<320 {
            let url = "http://127.0.0.1:\(port)/recipes/recipe-\(round % 40 + 1)/card?servings=\(2 + round % 6)"
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
            _ = try await response.body.collect(upTo: 1 << 16)
            if response.status == .ok { cards += 1 }
        }
        try await Task.sleep(for: .milliseconds(700))
        try await client.shutdown()
        return cards
    }
}
