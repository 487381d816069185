import Foundation

protocol StreamHandler: AnyObject {
    func channelRead(_ context: HandlerContext, frame: [UInt8])
}

final class HandlerContext {
    let handler: any StreamHandler
    let pipeline: StreamPipeline
    var next: HandlerContext?

    init(handler: any StreamHandler, pipeline: StreamPipeline) {
        self.handler = handler
        self.pipeline = pipeline
    }

    func fireChannelRead(_ frame: [UInt8]) {
        guard let next else { return }
        next.handler.channelRead(next, frame: frame)
    }
}

final class StreamPipeline {
    private var channel: QuicStream?
    private var head: HandlerContext?

    init(channel: QuicStream) {
        self.channel = channel
    }

    func append(_ handler: any StreamHandler) {
        let context = HandlerContext(handler: handler, pipeline: self)
        guard var last = head else {
            head = context
            return
        }
        while let following = last.next { last = following }
        last.next = context
    }

    func fireChannelRead(_ frame: [UInt8]) {
        guard let head, let channel, channel.isActive else { return }
        head.handler.channelRead(head, frame: frame)
    }

    func removeHandlers() {
        head = nil
        channel = nil
    }
}

final class FrameCounter: StreamHandler {
    private(set) var bytes = 0
    func channelRead(_ context: HandlerContext, frame: [UInt8]) {
        bytes += frame.count
        context.fireChannelRead(frame)
    }
}

final class QuicStream {
    let id: UInt64
    private(set) var isActive = true
    private(set) lazy var pipeline = StreamPipeline(channel: self)

    init(id: UInt64) { self.id = id }

    func close() {
        isActive = false
    }
}

final class QuicConnection {
    private var streams: [UInt64: QuicStream] = [:]
    private(set) var totalBytes = 0

    func serve(streamID: UInt64) {
        let stream = QuicStream(id: streamID)
        streams[streamID] = stream
        let counter = FrameCounter()
        stream.pipeline.append(counter)
        for size in 1...4 {
            stream.pipeline.fireChannelRead([UInt8](repeating: 7, count: size * 32))
        }
        totalBytes += counter.bytes
        streams.removeValue(forKey: streamID)?.close()
    }

    func abort() {
        for stream in streams.values { stream.pipeline.removeHandlers() }
        streams.removeAll()
    }
}

func serveAll() -> Int {
    let connection = QuicConnection()
    for id in 0..<140 {
        connection.serve(streamID: UInt64(id * 4))
        usleep(3_000)
    }
    connection.abort()
    return connection.totalBytes
}

print("served 140 streams, \(serveAll()) bytes")
