// Runs one program, named by the first argument. Built as it is, each has a fault; built with MENDED, it has the change that leaktrace advises, and no other.
import Glibc

let programs: [String: () -> Void] = [
  "delegate": { Stopwatch.measure() },
  "closure-property": { Download.fetch() },
  "dispatch-timer": { Heartbeat.beat() },
  "weak-capture": { Lighthouse.shine() },
  "observer": { ThemePicker.pick() },
  "own-task": { Chat.join() },
  "stream-termination": { Ticker.watch() },
  "parent": { Chapter.bind() },
  "registry": { Visits.serve() },
  "c-context": { Codec.encode() },
  "raw-memory": { Ring.record() },
  "unowned-capture": { Menu.open() },
  "closure-list": { Toolbar.install() },
  "method-reference": { Keypad.press() },
  "own-variable": { Crawl.begin() },
  "older-presenter": { Storefront.visit() },
  "work-item": { Search.type() },
  "field-of-elements": { Route.plan() },
  "forgotten-memory": { Scan.read() },
  "early-return": { Postmark.sort() },
  "ring": { if Carousel.turn() < 0 { print("no slide") } },
  "two-closures": { Journal.keep() },
  "erased-type": { if Patrol.watch() < 0 { print("nobody walked") } },
]

guard CommandLine.arguments.count == 2, let program = programs[CommandLine.arguments[1]] else {
  fputs("usage: advice NAME\n", stderr)
  exit(64)
}
program()
