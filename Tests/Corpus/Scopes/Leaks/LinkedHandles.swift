// A linked list of C structures that each retain an object: forty objects in a row are held by the same field.
import Foundation

private final class OpenFile {
  let path: String
  init(path: String) { self.path = path }
}

private struct Handle {
  var file: Unmanaged<OpenFile>
  var next: UnsafeMutablePointer<Handle>?
}

private enum FileTable {
  nonisolated(unsafe) static var first: UnsafeMutablePointer<Handle>?

  static func add(_ file: OpenFile) {
    let handle = UnsafeMutablePointer<Handle>.allocate(capacity: 1)
    handle.initialize(to: Handle(file: .passRetained(file), next: first))
    first = handle
  }

  static func removeFirst() {
    guard let handle = first else { return }
    first = handle.pointee.next
    handle.pointee.file.release()
    handle.deallocate()
  }
}

enum LinkedHandles: FaultyProgram {
  static func faulty() { for number in 0..<200 { read(number, closing: number % 5 > 0) } }
  static func correct() { for number in 0..<200 { read(number, closing: true) } }

  @inline(never) private static func read(_ number: Int, closing: Bool) {
    let file = OpenFile(path: "/var/spool/letters/\(number).txt")
    FileTable.add(file)
    for line in 0..<5 { note(file.path.split(separator: "/").count + line) }
    if closing { FileTable.removeFirst() }
  }
}
