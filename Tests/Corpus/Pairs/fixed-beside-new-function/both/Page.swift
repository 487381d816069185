final class Page {
  var loaded: (() -> Void)?
  var links: [Int] = [1, 2]
}
