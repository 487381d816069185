// Small initial heaps for the fuzzer. They have one of everything that the analysis of heap images distinguishes.

@testable import TraceReading

enum FuzzHeaps {
  static var all: [(name: String, heap: HeapBuilder)] {
    [
      ("heap-objects", objects()), ("heap-collections", collections()), ("heap-threads", threads()),
      ("heap-memory", memory()),
    ]
  }

  /// Type `index` has layout `index` of `FuzzLayouts`.
  private static func types(_ heap: HeapBuilder) {
    heap.trace.image("/lib/libc.so.6", 0x2000_0000..<0x2001_0000)
    // The first number is 1.
    for index in 1...12 {
      heap.type("App.Type\(index)", kind: index == 6 ? .closureContext : index == 7 ? .box : .class, fields: nil)
    }
  }

  private static func objects() -> HeapBuilder {
    let heap = HeapBuilder()
    types(heap)
    let (a, b) = (heap.object("App.Type12"), heap.object("App.Type12"))
    heap.set(a, 0, b)
    heap.set(b, 0, a)
    let closure = heap.object("App.Type5", size: 96, stack: [0x1000_1000, 0x1000_1020])
    let holder = heap.object("App.Type8", size: 64)
    heap.set(closure, 1, holder)
    heap.words[closure.address + 16] = 0x1000_1030
    heap.set(holder, 0, closure)
    let weak = heap.object("App.Type12")
    heap.words[weak.address + 24] = heap.sideTable(of: a).address
    heap.global(weak)
    let gone = heap.object("App.Type1", count: 1 << 32 | 3)
    let keeper = heap.object("App.Type1")
    let freed = heap.object("App.Type1")
    heap.set(keeper, 0, gone)
    heap.set(keeper, 1, freed)
    heap.free(freed)
    heap.global(keeper)
    let any = heap.object("App.Type7", size: 80)
    heap.set(any, 0, a)
    heap.set(any, 4, b)
    return heap
  }

  private static func collections() -> HeapBuilder {
    let heap = HeapBuilder()
    types(heap)
    let elements = (0..<4).map { _ in heap.object("App.Type1") }
    let array = heap.object("App.Type2", size: 80)
    let functions = heap.object("App.Type6", size: 96)
    let dictionary = heap.object("App.Type4", size: 160)
    let set = heap.object("App.Type3", size: 128)
    for (object, bitmap) in [(set, UInt64(56)), (dictionary, 64)] {
      heap.words[object.address + 16] = 2
      heap.words[object.address + 32] = 2
      heap.words[object.address + 48] = object.address + bitmap + 8
      heap.words[object.address + bitmap] = 0b1010
    }
    heap.words[dictionary.address + 56] = dictionary.address + 104
    heap.words[array.address + 16] = 3
    heap.words[functions.address + 16] = 2
    for (index, element) in elements.enumerated() {
      heap.set(array, 2 + index, element)
      heap.set(functions, 3 + 2 * index, element)
      heap.words[functions.address + 32 + 16 * UInt64(index)] = 0x1000_1020
      heap.set(dictionary, 7 + index, element)
      heap.set(set, 6 + index, element)
    }
    let odd = heap.object("App.Type9", size: 64)
    let table = heap.object("App.Type10", size: 64)
    heap.words[table.address + 16] = 39
    heap.set(odd, 0, table)
    return heap
  }

  private static func threads() -> HeapBuilder {
    let heap = HeapBuilder()
    types(heap)
    let objects = (0..<6).map { _ in heap.object("App.Type12") }
    let base: UInt64 = 0x7000_0000_0000
    for index in 0..<3 {
      let start = base + UInt64(index) << 24
      heap.regions.append(MemoryRegion(range: start..<start + 0x10000, kind: index == 2 ? .mainStack : .anonymous))
      heap.threads.append(
        SnapshotThread(
          osThread: UInt32(index), stackPointer: index == 1 ? nil : start + 0x8000, threadPointer: start + 0xF000,
          registers: [objects[index].address], isSelf: index == 0))
      heap.words[start + 0x8100] = objects[index + 3].address
      heap.words[start + 0x8200] = 0x2000_0055
      heap.words[start + 0xF000] = start + 0xF000
      heap.words[start + 0xF010] = start + 0xF000
    }
    heap.regions.append(
      MemoryRegion(range: 0x1000_0000..<0x1000_8000, kind: .file, isWritable: false, isExecutable: true))
    heap.regions.append(
      MemoryRegion(range: 0x2000_0000..<0x2001_0000, kind: .file, isWritable: false, isExecutable: true))
    heap.regions.append(MemoryRegion(range: 0x6000_0000_0000..<0x6000_0400_0000, kind: .anonymous))
    heap.words[0x6000_0000_0000] = 0x6000_0000_0030
    heap.regions.append(MemoryRegion(range: 0x6100_0000_0000..<0x6100_0000_1000, kind: .shared))
    heap.words[0x6100_0000_0010] = objects[5].address + 24
    return heap
  }

  private static func memory() -> HeapBuilder {
    let heap = HeapBuilder()
    types(heap)
    let task = heap.malloc(512)
    heap.words[task.address] = HeapBuilder.taskMetadata
    let slabs = (0..<2).map { _ in heap.malloc(1024) }
    heap.words[task.address + 0x38] = 0x1000_1020
    heap.words[task.address + 0x40] = slabs[0].address + 64
    heap.words[slabs[0].address + 64] = slabs[1].address + 32
    heap.words[slabs[0].address + 72] = 0x1000_1030
    heap.words[task.address + 0x48] = slabs[0].address
    for slab in slabs {
      heap.words[slab.address] = 0x1000_E000
      heap.words[slab.address + 128] = task.address
    }
    heap.words[slabs[0].address + 8] = slabs[1].address
    let (a, b) = (heap.malloc(0), heap.malloc(1 << 40))
    heap.words[b.address] = a.address
    heap.words[b.address + 8] = b.address + 100
    heap.global(b, offset: 4096)
    return heap
  }
}
