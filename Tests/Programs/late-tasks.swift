// A library for hosts that know nothing of Swift. It makes tasks in reused memory, and returns how many of them have the former contents in their reserved
// word, which the runtime never writes.
import Glibc

nonisolated(unsafe) private let finished: UnsafeMutablePointer<sem_t> = {
  let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  sem_init(semaphore, 0, 0)
  return semaphore
}()

@_cdecl("pluginMake") public func pluginMake(_ count: Int32) -> Int32 {
  let mark: UInt8 = 0x5A
  let blocks = (0..<1000).compactMap { malloc(200 + $0 % 50 * 16) }
  for (number, block) in blocks.enumerated() { memset(block, Int32(mark), 200 + number % 50 * 16) }
  blocks.forEach { free($0) }
  let tasks = (0..<Int(count)).map { number in
    Task.detached { () -> Int in
      await Task.yield()
      sem_post(finished)
      return number
    }
  }
  // The host does not exit while tasks run.
  for _ in tasks { sem_wait(finished) }
  return Int32(tasks.filter { unsafeBitCast($0, to: UnsafeRawPointer.self).load(fromByteOffset: 72, as: UInt8.self) == mark }.count)
}

@_cdecl("pluginShelve") public func pluginShelve(_ count: Int32, _ isLeaky: Int32) -> Int32 { count }
