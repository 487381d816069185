import Foundation

enum CarrierError: Error {
    case malformedBody(String)
    case unknownStatus(String)
}

struct WebhookCall {
    let carrier: String
    let body: String
}

enum ParcelStatus: String {
    case accepted, sorted, onVehicle, delivered
}

final class DeliveryWatcher {
    let parcel: String
    private(set) var events: [ParcelStatus] = []

    init(parcel: String) { self.parcel = parcel }

    func note(_ status: ParcelStatus) { events.append(status) }

    var isComplete: Bool { events.last == .delivered }
}

final class TrackingHub {
    static let shared = TrackingHub()

    private var watchers: [UUIDLike: DeliveryWatcher] = [:]
    private var nextId: UInt64 = 1

    struct UUIDLike: Hashable { let raw: UInt64 }

    func register(_ watcher: DeliveryWatcher) -> UUIDLike {
        let id = UUIDLike(raw: nextId)
        nextId += 1
        watchers[id] = watcher
        return id
    }

    func unregister(_ id: UUIDLike) {
        watchers.removeValue(forKey: id)
    }

    func publish(_ status: ParcelStatus, to id: UUIDLike) {
        watchers[id]?.note(status)
    }
}

struct WebhookController {
    let hub: TrackingHub
    private(set) var delivered = 0
    private(set) var inTransit = 0

    init(hub: TrackingHub) { self.hub = hub }

    mutating func handle(_ call: WebhookCall) throws -> String {
        let fields = call.body.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 2 else { throw CarrierError.malformedBody(call.carrier) }

        let watcher = DeliveryWatcher(parcel: fields[0])
        let id = hub.register(watcher)

        for code in fields[1].split(separator: ",") {
            hub.publish(try translate(String(code), carrier: call.carrier), to: id)
        }

        hub.unregister(id)
        if watcher.isComplete { delivered += 1 } else { inTransit += 1 }
        return "\(watcher.parcel):\(watcher.events.count)"
    }

    private func translate(_ code: String, carrier: String) throws -> ParcelStatus {
        switch code {
        case "AC", "10": return .accepted
        case "SO", "20": return .sorted
        case "OV", "30": return .onVehicle
        case "DL", "40": return .delivered
        default: throw CarrierError.unknownStatus("\(carrier)/\(code)")
        }
    }
}

let letterCodes = ["AC", "SO", "OV", "DL"]
let numberCodes = ["10", "20", "30", "40"]
var controller = WebhookController(hub: .shared)
var malformed = 0
var unknown: [String: Int] = [:]
var answered = 0
var digest = 0

for n in 0..<2200 {
    let numeric = n % 3 == 0
    let carrier = numeric ? "postline" : "swiftbox"
    var codes = Array((numeric ? numberCodes : letterCodes).prefix(1 + n % 4))
    if n % 11 == 5 { codes.append(numeric ? "77" : "HX") }
    let body = n % 97 == 13 ? "P\(n)" : "P\(n);" + codes.joined(separator: ",")
    do {
        let reply = try controller.handle(WebhookCall(carrier: carrier, body: body))
        answered += 1
        digest = (digest * 31 + reply.utf8.count) % 99991
    } catch CarrierError.malformedBody {
        malformed += 1
    } catch CarrierError.unknownStatus(let what) {
        unknown[what, default: 0] += 1
    } catch {
        fatalError("\(error)")
    }
}

print("answered \(answered) (digest \(digest)), malformed \(malformed)")
print("delivered \(controller.delivered), in transit \(controller.inTransit)")
for what in unknown.keys.sorted() {
    print("unknown \(what): \(unknown[what]!)")
}
