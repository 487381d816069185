// Bridge between delivery vans and the planning office; vans reconnect often.
import Foundation

final class VanLink {
    let linkID: UInt32
    let plate: String
    var channels: Set<String> = []
    var open = true
    var delivered = 0

    init(linkID: UInt32, plate: String) {
        self.linkID = linkID
        self.plate = plate
    }

    func deliver(_ payload: [UInt8]) { delivered += payload.count }
}

final class ChannelTable {
    private var subscribers: [String: Set<String>] = [:]

    func subscribe(_ link: VanLink, to channel: String) {
        link.channels.insert(channel)
        subscribers[channel, default: []].insert(link.plate)
    }

    func drop(_ link: VanLink) {
        for channel in link.channels { subscribers[channel]?.remove(link.plate) }
    }

    func plates(on channel: String) -> Set<String> { subscribers[channel] ?? [] }
}

final class Bridge {
    private var links: [UInt32: VanLink] = [:]
    private var vans: [String: VanLink] = [:]
    private let channels = ChannelTable()
    private var nextLink: UInt32 = 1
    private(set) var takeovers = 0
    private(set) var messages = 0
    private(set) var bytes = 0

    func connect(plate: String, channels names: [String]) -> UInt32 {
        let link = VanLink(linkID: nextLink, plate: plate)
        nextLink += 1
        if let previous = vans[plate] {
            takeovers += 1
            disconnect(previous.linkID)
        }
        links[link.linkID] = link
        vans[plate] = link
        for name in names { channels.subscribe(link, to: name) }
        return link.linkID
    }

    func send(from id: UInt32, channel: String, payload: [UInt8]) {
        guard let sender = links[id], sender.open else { return }
        messages += 1
        for plate in channels.plates(on: channel) where plate != sender.plate {
            vans[plate]?.deliver(payload)
        }
    }

    func disconnect(_ id: UInt32) {
        guard let link = links.removeValue(forKey: id) else { return }
        link.open = false
        bytes += link.delivered
        if vans[link.plate] === link {
            vans[link.plate] = nil
            channels.drop(link)
        }
    }

    var online: Int { vans.count }
}

let bridge = Bridge()
let vanCount = 40
var current: [String: UInt32] = [:]
for tunnel in 0..<12 {
    for v in 0..<vanCount {
        let plate = "EL \(20_000 + v)"
        current[plate] = bridge.connect(plate: plate, channels: ["route/\(v % 5)", "traffic"])
    }
    for v in 0..<vanCount {
        guard let link = current["EL \(20_000 + v)"] else { continue }
        bridge.send(from: link, channel: "route/\(v % 5)", payload: [UInt8(v), UInt8(tunnel), UInt8(v * tunnel % 90)])
        if v == tunnel { bridge.send(from: link, channel: "traffic", payload: [7, 7]) }
    }
    usleep(12_000)
}
let online = bridge.online
for link in current.values { bridge.disconnect(link) }
print("vans online before shutdown: \(online), after: \(bridge.online)")
print("takeovers: \(bridge.takeovers), messages: \(bridge.messages), bytes delivered: \(bridge.bytes)")
