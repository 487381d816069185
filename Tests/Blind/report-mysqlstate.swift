import Foundation

enum Packet {
    case row([String])
    case done(affected: Int)
    case failure(String)
}

enum HandlerState {
    case ready
    case callback((Packet) -> Bool)
}

final class PacketHandler {
    var state = HandlerState.ready

    func receive(_ packet: Packet) {
        guard case .callback(let handle) = state else { return }
        let finished = handle(packet)
        if finished, case .failure = packet {
            state = .ready
        }
    }
}

final class DatabaseConnection {
    let serial: Int
    private let handler = PacketHandler()
    private var rows: [[String]] = []
    private(set) var queriesRun = 0
    private(set) var lastAffected = 0

    init(serial: Int) {
        self.serial = serial
    }

    func query(_ sql: String) -> Int {
        rows.removeAll(keepingCapacity: true)
        handler.state = .callback { packet in
            switch packet {
            case .row(let columns):
                self.rows.append(columns)
                return false
            case .done(let affected):
                self.lastAffected = affected
                self.queriesRun += 1
                return true
            case .failure:
                self.rows.removeAll()
                return true
            }
        }
        replay(sql)
        return rows.count
    }

    private func replay(_ sql: String) {
        for index in 0..<(sql.count % 9 + 1) {
            handler.receive(.row([String(index), sql]))
        }
        handler.receive(.done(affected: 0))
    }
}

struct Report {
    var connections = 0
    var rows = 0
}

func runBatch(_ size: Int) -> Report {
    var report = Report()
    for serial in 0..<size {
        let connection = DatabaseConnection(serial: serial)
        report.rows += connection.query("SELECT id, name FROM item WHERE shop = \(serial)")
        report.rows += connection.query("SELECT COUNT(*) FROM item")
        report.connections += connection.queriesRun > 0 ? 1 : 0
        usleep(4_000)
    }
    return report
}

let report = runBatch(90)
print("used \(report.connections) connections, read \(report.rows) rows")
