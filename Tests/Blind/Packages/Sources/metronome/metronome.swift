import Foundation
import NIOCore
import NIOPosix

/// A music lesson over the network: the teacher's side sends the beat.
final class Lesson: @unchecked Sendable {
    let pupil: Int
    let tempo: TimeAmount
    private let channel: Channel
    private var beat: RepeatedTask?
    private(set) var beats = 0
    private var score: [UInt8]

    init(pupil: Int, tempo: TimeAmount, channel: Channel) {
        self.pupil = pupil
        self.tempo = tempo
        self.channel = channel
        score = (0..<256).map { UInt8(($0 * pupil) & 0xff) }
    }

    func begin() {
        beat = channel.eventLoop.scheduleRepeatedTask(initialDelay: tempo, delay: tempo) { _ in
            self.tick()
        }
    }

    private func tick() {
        guard channel.isActive else { return }
        beats += 1
        let note = score[beats % score.count]
        channel.writeAndFlush(channel.allocator.buffer(string: "beat \(beats) note \(note)\n"), promise: nil)
    }

    func finish() -> String { "pupil \(pupil): \(beats) beats" }
}

final class LessonHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    private let school: School
    private var lesson: Lesson?

    init(school: School) { self.school = school }

    func channelActive(context: ChannelHandlerContext) {
        let number = school.enrol()
        let lesson = Lesson(pupil: number, tempo: .milliseconds(Int64(15 + number % 10)), channel: context.channel)
        self.lesson = lesson
        lesson.begin()
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if String(buffer: unwrapInboundIn(data)).hasPrefix("bye") { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let lesson { school.record(lesson.finish()) }
        lesson = nil
        context.fireChannelInactive()
    }
}

final class School: @unchecked Sendable {
    private let lock = NSLock()
    private var pupils = 0
    private var lastReports: [String] = []

    func enrol() -> Int {
        lock.withLock {
            pupils += 1
            return pupils
        }
    }

    func record(_ report: String) {
        lock.withLock {
            lastReports.append(report)
            if lastReports.count > 5 { lastReports.removeFirst() }
        }
    }

    var summary: String { lock.withLock { "\(pupils) pupils, \(lastReports.count) reports on the wall" } }
}

final class Pupil: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    private var heard = 0
    private var leaving = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        heard += unwrapInboundIn(data).readableBytesView.count { $0 == UInt8(ascii: "\n") }
        if heard >= 4, !leaving {
            leaving = true
            context.writeAndFlush(NIOAny(context.channel.allocator.buffer(string: "bye\n")), promise: nil)
        }
    }
}

@main
struct Metronome {
    static func main() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let school = School()
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { $0.pipeline.addHandler(LessonHandler(school: school)) }
            .bind(host: "127.0.0.1", port: 0).get()
        let bootstrap = ClientBootstrap(group: group).channelInitializer { $0.pipeline.addHandler(Pupil()) }

        for _ in 0..<5 {
            var pupils: [Channel] = []
            for _ in 0..<11 {
                pupils.append(try await bootstrap.connect(to: server.localAddress!).get())
            }
            for pupil in pupils { try await pupil.closeFuture.get() }
        }
        try await Task.sleep(for: .milliseconds(600))
        print(school.summary)
        try await server.close()
    }
}
