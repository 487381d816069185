import Foundation

protocol TransferDelegate: AnyObject {
    func transfer(_ transfer: Transfer, received bytes: Int)
    func transferFinished(_ transfer: Transfer)
    func transferFailed(_ transfer: Transfer)
}

final class Transfer {
    let url: String
    private let total: Int
    private(set) var received: Int
    private let failsAt: Int?
    var delegate: TransferDelegate?

    init(url: String, total: Int, offset: Int, failsAt: Int?) {
        self.url = url
        self.total = total
        received = offset
        self.failsAt = failsAt
    }

    func pump() {
        let chunk = min(64, total - received)
        received += chunk
        delegate?.transfer(self, received: chunk)
        if let failsAt, received >= failsAt {
            delegate?.transferFailed(self)
        } else if received >= total {
            delegate?.transferFinished(self)
        }
    }
}

enum DownloadState { case running, paused, done, failed, cancelled }

final class Download: TransferDelegate {
    let id: Int
    let url: String
    let size: Int
    private(set) var state = DownloadState.running
    private var transfer: Transfer?
    private var bytes = 0
    private var retries = 0

    init(id: Int, url: String, size: Int) {
        self.id = id
        self.url = url
        self.size = size
    }

    private func open(offset: Int) {
        let fails = id % 17 == 3 && retries < 2 ? size / 2 : nil
        let transfer = Transfer(url: url, total: size, offset: offset, failsAt: fails)
        transfer.delegate = self
        self.transfer = transfer
    }

    func start() {
        state = .running
        if transfer == nil { open(offset: bytes) }
    }

    func pause() {
        guard state == .running else { return }
        state = .paused
    }

    func cancel() {
        if state == .running {
            transfer?.delegate = nil
            transfer = nil
        }
        state = .cancelled
    }

    func step() {
        guard state == .running else { return }
        transfer?.pump()
    }

    func transfer(_ transfer: Transfer, received count: Int) { bytes += count }

    func transferFinished(_ transfer: Transfer) {
        state = .done
        close()
    }

    func transferFailed(_ transfer: Transfer) {
        close()
        retries += 1
        if retries <= 2 {
            bytes = 0
            open(offset: 0)
        } else {
            state = .failed
        }
    }

    private func close() {
        transfer?.delegate = nil
        transfer = nil
    }
}

final class DownloadManager {
    private var downloads: [Download] = []
    private var counts: [DownloadState: Int] = [:]

    func add(id: Int, size: Int) {
        let download = Download(id: id, url: "https://mirror.test/file\(id).bin", size: size)
        downloads.append(download)
        download.start()
    }

    private func find(_ id: Int) -> Download? { downloads.first { $0.id == id } }

    func pause(_ id: Int) { find(id)?.pause() }

    func resume(_ id: Int) { if let download = find(id), download.state == .paused { download.start() } }

    func cancel(_ id: Int) { find(id)?.cancel() }

    func step() {
        for download in downloads { download.step() }
        for download in downloads where download.state != .running && download.state != .paused {
            counts[download.state, default: 0] += 1
        }
        downloads.removeAll { $0.state != .running && $0.state != .paused }
    }

    var active: Int { downloads.count }

    func summary() -> String {
        counts.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")
    }
}

func afternoon() {
    let manager = DownloadManager()
    for id in 0..<600 {
        manager.add(id: id, size: 200 + id * 37 % 900)
        if id % 8 == 0 { manager.pause(id) }
        if id % 8 == 3 { manager.resume(id - 3) }
        if id % 24 == 17 {
            manager.pause(id)
        } else if id % 24 == 20 {
            manager.cancel(id - 3)
        } else if id % 10 == 9 {
            manager.cancel(id)
        }
        manager.step()
        usleep(3200)
    }
    while manager.active > 0 {
        for id in 580..<600 { manager.resume(id) }
        manager.step()
        usleep(1000)
    }
    print(manager.summary())
}

afternoon()
