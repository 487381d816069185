import Foundation

final class RenderedPage: Sendable {
    let url: String
    let html: [UInt8]
    init(url: String) {
        self.url = url
        html = Array("<html><body><h1>\(url)</h1></body></html>".utf8)
    }
}

actor RenderService {
    static let shared = RenderService()
    private var running: [Task<RenderedPage, Error>] = []
    private(set) var rendered = 0

    func render(_ url: String) async throws -> RenderedPage {
        let task = Task<RenderedPage, Error> {
            try Task.checkCancellation()
            await Task.yield()
            return RenderedPage(url: url)
        }
        running.append(task)
        let page = try await task.value
        rendered += 1
        return page
    }

    /// Called on shutdown, so that nothing is rendered in vain.
    func cancelAll() {
        for task in running { task.cancel() }
    }
}

/// Small fragments are rendered without a task of their own.
struct FragmentRenderer: Sendable {
    func render(_ name: String) async -> RenderedPage {
        await Task.yield()
        return RenderedPage(url: "fragment:\(name)")
    }
}

@main
struct SSRServer {
    static func main() async throws {
        let service = RenderService.shared
        var bytes = 0
        for round in 0..<20 {
            bytes += try await withThrowingTaskGroup(of: Int.self) { group in
                for n in 0..<100 {
                    group.addTask {
                        let page = try await service.render("/products/\(round)/\(n)")
                        if n % 10 == 0 {
                            let footer = await FragmentRenderer().render("footer\(n)")
                            return page.html.count + footer.html.count
                        }
                        return page.html.count
                    }
                }
                return try await group.reduce(0, +)
            }
            try await Task.sleep(for: .milliseconds(15))
        }
        print("pages rendered:", await service.rendered, bytes > 0)
    }
}
