// An initialiser ties a cycle, which its callers have to undo: one cause, however many of them do not.

private final class TransferPipeline {
  fileprivate var channel: TransferChannel?
  private(set) var sent = 0
  func send(_ bytes: Int) { sent += bytes }
}

private final class TransferChannel {
  private let pipeline = TransferPipeline()
  @inline(never) init() { pipeline.channel = self }

  func send(_ bytes: Int) {
    pipeline.send(bytes)
    note(pipeline.sent)
  }

  func close() { pipeline.channel = nil }
}

enum TransferChannels: FaultyProgram {
  static func faulty() { transfer(closing: false) }
  static func correct() { transfer(closing: true) }

  private static func transfer(closing: Bool) {
    for _ in 0..<3 { upload(closing: closing) }
    for _ in 0..<2 { download(closing: closing) }
    synchronise(closing: closing)
    for _ in 0..<4 { measure(closing: closing) }
  }

  @inline(never) private static func upload(closing: Bool) {
    let channel = TransferChannel()
    channel.send(100)
    if closing { channel.close() }
  }

  @inline(never) private static func download(closing: Bool) {
    let channel = TransferChannel()
    for part in 0..<4 { channel.send(part) }
    if closing { channel.close() }
  }

  @inline(never) private static func synchronise(closing: Bool) {
    let channels = [TransferChannel(), TransferChannel()]
    for channel in channels { channel.send(8) }
    if closing { for channel in channels { channel.close() } }
  }

  @inline(never) private static func measure(closing: Bool) {
    let channel = TransferChannel()
    channel.send(1)
    if closing { channel.close() }
  }
}
