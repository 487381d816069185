import Foundation

// Push notification sender. Operations render the payload and hand it to the provider; a token
// bucket keeps the sender under the provider's rate limit.

struct Audience {
    let locale: String
    let devices: [Int]
}

final class TokenBucket: @unchecked Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func refill(_ tokens: Int) {
        for _ in 0..<tokens { semaphore.signal() }
    }

    func take() { semaphore.wait() }
}

final class Provider: @unchecked Sendable {
    private let lock = NSLock()
    private var delivered = 0
    private var bytes = 0
    private var signature: UInt64 = 0

    func deliver(_ payload: [UInt8], to device: Int) {
        var hash: UInt64 = UInt64(device)
        for byte in payload { hash = (hash ^ UInt64(byte)) &* 1099511628211 }
        lock.withLock {
            delivered += 1
            bytes += payload.count
            signature ^= hash
        }
    }

    var totals: (delivered: Int, bytes: Int) {
        lock.withLock { (delivered, bytes) }
    }
}

final class PushOperation: Operation, @unchecked Sendable {
    private let device: Int
    private let template: String
    private let values: [String: String]
    private let bucket: TokenBucket
    private let provider: Provider

    init(device: Int, template: String, values: [String: String], bucket: TokenBucket, provider: Provider) {
        self.device = device
        self.template = template
        self.values = values
        self.bucket = bucket
        self.provider = provider
        super.init()
    }

    override func main() {
        guard !isCancelled else { return }
        bucket.take()
        var text = template
        for (key, value) in values { text = text.replacingOccurrences(of: "{\(key)}", with: value) }
        let json = "{\"to\":\(device),\"alert\":\"\(text)\"}"
        provider.deliver(Array(json.utf8), to: device)
    }
}

final class Campaign {
    private let queue = OperationQueue()
    private let bucket = TokenBucket()
    private let provider = Provider()
    private let templates = [
        "de": "{name}, deine Bestellung {order} ist unterwegs",
        "en": "{name}, your order {order} is on its way",
        "fr": "{name}, votre commande {order} est en route",
    ]
    private(set) var requested = 0

    init() {
        queue.name = "push.sender"
        queue.maxConcurrentOperationCount = 2
    }

    func notify(_ audience: Audience, order: Int) {
        let template = templates[audience.locale] ?? templates["en"]!
        for device in audience.devices {
            let values = ["name": "customer\(device % 500)", "order": "A-\(order)"]
            queue.addOperation(PushOperation(device: device, template: template, values: values,
                                             bucket: bucket, provider: provider))
            requested += 1
        }
    }

    func interval(quota: Int) { bucket.refill(quota) }

    var status: String {
        let totals = provider.totals
        return "requested \(requested), delivered \(totals.delivered), bytes \(totals.bytes)"
    }
}

let campaign = Campaign()
let locales = ["de", "en", "fr"]

for tick in 0..<120 {
    let base = tick * 50
    campaign.notify(Audience(locale: locales[tick % 3], devices: (0..<10).map { base + $0 * 5 }), order: 70_000 + tick)
    campaign.interval(quota: 4)
    if tick % 40 == 39 {
        Thread.sleep(forTimeInterval: 0.01)
        print("tick \(tick + 1): requested \(campaign.requested)")
    }
    Thread.sleep(forTimeInterval: 0.008)
}
Thread.sleep(forTimeInterval: 0.1)
print(campaign.status)
