import Foundation
import Dispatch

actor LicenceServer {
    private var seats: [String: Int]
    private(set) var refusals = 0

    init(seats: [String: Int]) {
        self.seats = seats
    }

    func checkOut(_ feature: String) -> Bool {
        guard let free = seats[feature], free > 0 else {
            refusals += 1
            return false
        }
        seats[feature] = free - 1
        return true
    }

    func checkIn(_ feature: String) {
        seats[feature, default: 0] += 1
    }
}

func pause(milliseconds: Int) async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
            continuation.resume()
        }
    }
}

final class FrameJob: @unchecked Sendable {
    let frame: Int
    let feature: String
    private var pixels: [UInt8]

    init(frame: Int, feature: String) {
        self.frame = frame
        self.feature = feature
        self.pixels = [UInt8](repeating: 0, count: 64 * 64)
    }

    func render(with licences: LicenceServer) async -> Int {
        while await !licences.checkOut(feature) {
            await pause(milliseconds: 40)
        }
        shade()
        await pause(milliseconds: 3)
        await licences.checkIn(feature)
        return pixels.reduce(0) { $0 + Int($1) }
    }

    private func shade() {
        for y in 0..<64 {
            for x in 0..<64 {
                pixels[y * 64 + x] = UInt8(truncatingIfNeeded: (x * x + y * frame) >> 3)
            }
        }
    }
}

actor Scheduler {
    private let licences: LicenceServer
    private var running: [Int: Task<Void, Never>] = [:]
    private(set) var finished = 0
    private(set) var expired = 0
    private(set) var brightness = 0

    init(licences: LicenceServer) {
        self.licences = licences
    }

    func submit(frame: Int, feature: String) {
        let job = FrameJob(frame: frame, feature: feature)
        running[frame] = Task {
            let sum = await job.render(with: licences)
            complete(job.frame, sum: sum)
        }
    }

    private func complete(_ frame: Int, sum: Int) {
        guard running.removeValue(forKey: frame) != nil else { return }
        finished += 1
        brightness += sum
    }

    func expireAll() {
        for (frame, task) in running {
            task.cancel()
            running[frame] = nil
            expired += 1
        }
    }

    var pending: Int { running.count }
}

@main
struct Farm {
    static func main() async throws {
        let licences = LicenceServer(seats: ["raster": 4, "denoise": 3])
        let scheduler = Scheduler(licences: licences)
        for shot in 0..<6 {
            for n in 0..<10 {
                let feature = n % 10 < 5 ? "raster" : (n % 10 < 7 ? "denoise" : "volumetrics")
                await scheduler.submit(frame: shot * 100 + n, feature: feature)
            }
            while await scheduler.pending > 3 {
                try await Task.sleep(for: .milliseconds(10))
            }
            try await Task.sleep(for: .milliseconds(60))
            await scheduler.expireAll()
        }
        try await Task.sleep(for: .milliseconds(100))
        let refusals = await licences.refusals
        print("finished \(await scheduler.finished), expired \(await scheduler.expired), brightness \(await scheduler.brightness), refusals seen \(refusals > 0)")
    }
}
