// Has tables of pointers that resemble jemalloc's tree of extents at a few places, as any table may, and waits while it
// is inspected from outside. Its allocator is glibc's.

import Foundation

final class Reader {
  let table: UnsafeMutablePointer<UInt>
  init(_ table: UnsafeMutablePointer<UInt>) { self.table = table }
}

/// The number of words in a leaf of jemalloc's tree.
let leafWords = 1 << 18

func mapped(_ bytes: Int) -> UnsafeMutablePointer<UInt> {
  mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!.assumingMemoryBound(to: UInt.self)
}

/// A table whose `words` point to records. The records of `like` describe an extent at the page that has the word's
/// number, as jemalloc's records do. All others are empty.
func table(_ words: Range<Int>, like: Set<Int>) -> UnsafeMutablePointer<UInt> {
  let table = mapped(leafWords * 8 + 4096)
  let records = mapped(words.count * 128)
  for (number, word) in words.enumerated() {
    let record = records + number * 16
    table[word] = UInt(bitPattern: record)
    guard like.contains(word) else { continue }
    record[1] = UInt(word) << 12
    record[2] = 4096
  }
  return table
}

// Variables of the image's data lead to them.
nonisolated(unsafe) var agreesLate = table(5..<400, like: [40])
nonisolated(unsafe) var agreesEarly = table(5..<400, like: [5, 6])
nonisolated(unsafe) var readers = [Reader(agreesLate), Reader(agreesEarly)]

setvbuf(stdout, nil, _IONBF, 0)
print("ready \(getpid())")
while true { pause() }
