import AsyncAlgorithms
import Foundation
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

final class Delivery: @unchecked Sendable {
    let number: Int
    let address: String
    private let lock = NIOLock()
    private var stops: [String] = []
    private var beats = 0

    init(number: Int, address: String) {
        self.number = number
        self.address = address
    }

    func pass(_ stop: String) { lock.withLock { stops.append(stop) } }
    func beat() { lock.withLock { beats += 1 } }
}

/// The positions that the tracking page shows.
actor TrackingPage {
    private var underWay: [Int: Delivery] = [:]
    private var done = 0

    func start(_ delivery: Delivery) { underWay[delivery.number] = delivery }

    func finish(_ delivery: Delivery) {
        underWay[delivery.number] = nil
        done += 1
    }

    var report: String { "\(done) delivered, \(underWay.count) under way" }
    var delivered: Int { done }
}

struct OrderDesk: Service {
    let orders: AsyncStream<Delivery>.Continuation

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            for number in 0..<90 {
                orders.yield(Delivery(number: number, address: "\(number % 23) Mill Lane"))
                if number % 9 == 8 { try await Task.sleep(for: .milliseconds(40)) }
            }
            try await Task.sleep(for: .seconds(60))
        }
        orders.finish()
    }
}

struct Dispatcher: Service {
    let orders: AsyncStream<Delivery>
    let page: TrackingPage

    func run() async throws {
        await withDiscardingTaskGroup { drivers in
            for await delivery in orders {
                drivers.addTask {
                    await page.start(delivery)
                    reportPosition(of: delivery)
                    await drive(delivery)
                    await page.finish(delivery)
                }
            }
        }
    }

    /// Tells the customer every few moments where the van is.
    private func reportPosition(of delivery: Delivery) {
        Task {
            while !Task.isCancelled {
                delivery.beat()
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    private func drive(_ delivery: Delivery) async {
        for stop in 0..<(2 + delivery.number % 3) {
            try? await Task.sleep(for: .milliseconds(20))
            delivery.pass("stop \(stop)")
        }
    }
}

struct Statistics: Service {
    let page: TrackingPage
    let closingTime: @Sendable () -> Void

    func run() async throws {
        var announced = false
        for await _ in AsyncTimerSequence(interval: .milliseconds(100), clock: .continuous).cancelOnGracefulShutdown() {
            if await page.delivered == 90, !announced {
                announced = true
                closingTime()
            }
        }
    }
}

@main
struct Courier {
    static func main() async throws {
        let page = TrackingPage()
        let (orders, continuation) = AsyncStream<Delivery>.makeStream()
        var logger = Logger(label: "courier")
        logger.logLevel = .error
        let group = ServiceGroup(configuration: .init(
            services: [
                .init(service: Dispatcher(orders: orders, page: page)),
                .init(service: OrderDesk(orders: continuation)),
                .init(service: Statistics(page: page) {
                    Thread.detachNewThread {
                        Thread.sleep(forTimeInterval: 0.3)
                        kill(getpid(), SIGTERM)
                    }
                }),
            ],
            gracefulShutdownSignals: [.sigterm],
            logger: logger
        ))
        print("ready")
        try await group.run()
        print(await page.report)
    }
}
