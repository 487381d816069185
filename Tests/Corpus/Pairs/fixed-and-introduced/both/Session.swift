final class Session {
  var ended: (() -> Void)?
  var log: [Int] = [7, 8]
}
