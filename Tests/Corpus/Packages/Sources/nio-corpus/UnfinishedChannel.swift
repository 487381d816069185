// A channel that is dropped without being closed: it and its pipeline refer to each other until then.
import NIOCore
import NIOEmbedded

enum UnfinishedChannel: FaultyProgram {
  static func faulty() { for _ in 0..<4 { open(finishing: false) } }
  static func correct() { for _ in 0..<4 { open(finishing: true) } }

  @inline(never) private static func open(finishing: Bool) {
    let channel = EmbeddedChannel()
    _ = try? channel.writeInbound(ByteBuffer(string: "hello"))
    if finishing { _ = try? channel.finish() }
  }
}
