// A shop whose screens may leak. The arguments choose how many screens it opens, how many of them leak, and what else
// it does.

final class Screen {
  var onClose: (() -> Void)?
  var items = [0]
}

final class Download {
  var next: Download?
}

/// Keeps the optimiser from removing an object.
@inline(never) func use(_ object: AnyObject) {
  if ObjectIdentifier(object).hashValue == 1 { print("unlikely") }
}

@inline(never) func open(leaks: Bool) {
  let screen = Screen()
  screen.onClose = { screen.items.append(1) }
  screen.onClose?()
  if !leaks { screen.onClose = nil }
}

@inline(never) func download() {
  let download = Download()
  download.next = download
  use(download)
}

/// Makes the same objects as `open`.
@inline(never) func preview() {
  let screen = Screen()
  screen.items.append(2)
  use(screen)
}

let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let words = Set(CommandLine.arguments.dropFirst())
for number in 0..<(numbers.first ?? 0) { open(leaks: number < numbers.last ?? 0) }
if words.contains("download") { for _ in 0..<6 { download() } }
if words.contains("preview") { preview() }
