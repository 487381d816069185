import Foundation

struct Envelope {
    let callID: Int
    let payload: [UInt8]?
    let fault: String?
}

final class OutgoingCall {
    let id: Int
    let method: String
    let deadline: Int
    var onReply: (([UInt8]) -> Void)?
    var onFault: ((String) -> Void)?

    init(id: Int, method: String, deadline: Int) {
        self.id = id
        self.method = method
        self.deadline = deadline
    }
}

final class RPCChannel {
    private var calls: [Int: OutgoingCall] = [:]
    private var nextID = 0
    private(set) var now = 0
    private(set) var unmatched = 0

    func call(_ method: String, timeout: Int, reply: @escaping ([UInt8]) -> Void, fault: @escaping (String) -> Void) -> Int {
        nextID += 1
        let call = OutgoingCall(id: nextID, method: method, deadline: now + timeout)
        call.onReply = reply
        call.onFault = fault
        calls[call.id] = call
        return call.id
    }

    func deliver(_ envelope: Envelope) {
        guard let call = calls[envelope.callID] else {
            unmatched += 1
            return
        }
        if let fault = envelope.fault {
            finish(call) { $0.onFault?(fault) }
            return
        }
        guard let payload = envelope.payload, !payload.isEmpty else {
            finish(call) { $0.onFault?("empty payload") }
            return
        }
        finish(call) { $0.onReply?(payload) }
    }

    func advance(to time: Int) {
        now = time
        let late = calls.values.filter { $0.deadline <= time }
        for call in late {
            finish(call) { $0.onFault?("deadline") }
        }
    }

    private func finish(_ call: OutgoingCall, _ body: (OutgoingCall) -> Void) {
        calls.removeValue(forKey: call.id)
        body(call)
        call.onReply = nil
        call.onFault = nil
    }

    var outstanding: Int { calls.count }
}

let channel = RPCChannel()
let methods = ["inventory.get", "price.quote", "user.profile"]
var bytes = 0
var faults: [String: Int] = [:]
var deepest = 0

for tick in 0..<400 {
    channel.advance(to: tick)
    for lane in 0..<4 {
        let seed = tick * 4 + lane
        let id = channel.call(methods[seed % 3], timeout: 15, reply: { bytes += $0.count }, fault: { faults[$0, default: 0] += 1 })
        switch seed % 11 {
        case 4:
            channel.deliver(Envelope(callID: id, payload: nil, fault: "unavailable"))
        case 6:
            channel.deliver(Envelope(callID: id, payload: [], fault: nil))
        case 9:
            break
        default:
            channel.deliver(Envelope(callID: id, payload: Array(repeating: 7, count: seed % 40 + 1), fault: nil))
        }
    }
    if tick % 10 == 0 {
        channel.deliver(Envelope(callID: max(1, tick - 300), payload: [1], fault: nil))
    }
    deepest = max(deepest, channel.outstanding)
}
channel.advance(to: 500)

print("reply bytes: \(bytes), unmatched: \(channel.unmatched), deepest: \(deepest)")
for reason in faults.keys.sorted() {
    print("\(reason): \(faults[reason]!)")
}
print("outstanding at shutdown: \(channel.outstanding)")
