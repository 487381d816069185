import Foundation

struct Image {
    let version: String
    let board: String
    let blocks: [[UInt8]]
    let checksum: UInt32
}

final class UpdateSession {
    let device: Int
    let image: Image
    var staged: [UInt8] = []
    var checksum: UInt32 = 1

    init(device: Int, image: Image) {
        self.device = device
        self.image = image
    }

    func write(_ block: [UInt8]) {
        staged.append(contentsOf: block)
        for byte in block { checksum = checksum &* 33 &+ UInt32(byte) }
    }
}

final class UpdateController {
    private var sessions: [UpdateSession] = []
    private let supportedBoards: Set<String>
    private(set) var flashedBytes = 0
    private(set) var lastRefusal = ""

    init(supportedBoards: Set<String>) {
        self.supportedBoards = supportedBoards
    }

    func isUpdating(_ device: Int) -> Bool {
        sessions.contains { $0.device == device }
    }

    func update(device: Int, with image: Image, corruptBlock: Int?) -> Bool {
        if isUpdating(device) { return false }
        let session = UpdateSession(device: device, image: image)
        sessions.append(session)

        guard supportedBoards.contains(image.board) else {
            lastRefusal = "board \(image.board)"
            return false
        }
        for (index, block) in image.blocks.enumerated() {
            if index == corruptBlock {
                var damaged = block
                damaged[0] ^= 0x40
                session.write(damaged)
            } else {
                session.write(block)
            }
        }
        if session.checksum != image.checksum {
            lastRefusal = "checksum \(image.version)"
            return false
        }

        flashedBytes += session.staged.count
        sessions.removeAll { $0 === session }
        return true
    }
}

func makeImage(version: Int, board: String) -> Image {
    let blocks = (0..<8).map { block in
        (0..<32).map { UInt8(truncatingIfNeeded: version * 31 + block * 7 + $0) }
    }
    var sum: UInt32 = 1
    for block in blocks {
        for byte in block { sum = sum &* 33 &+ UInt32(byte) }
    }
    return Image(version: "3.\(version)", board: board, blocks: blocks, checksum: sum)
}

let controller = UpdateController(supportedBoards: ["rev-c", "rev-d"])
let images = [
    makeImage(version: 1, board: "rev-c"),
    makeImage(version: 2, board: "rev-d"),
    makeImage(version: 3, board: "rev-c"),
]
let legacy = makeImage(version: 4, board: "rev-a")
var updated = 0
var refusals: [String: Int] = [:]

for device in 0..<800 {
    let image = device % 20 == 11 ? legacy : images[device % images.count]
    let corrupt: Int? = device % 10 == 4 ? device % 8 : nil
    if controller.update(device: device, with: image, corruptBlock: corrupt) {
        updated += 1
    } else {
        refusals[controller.lastRefusal, default: 0] += 1
    }
}

print("updated: \(updated) devices, \(controller.flashedBytes) bytes")
for reason in refusals.keys.sorted() {
    print("\(reason): \(refusals[reason]!)")
}
