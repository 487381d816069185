// Counting the processors that the kernel allows.

import Glibc
import Testing

@testable import TraceReading

@Suite struct AllowedProcessorsTests {
  /// Writes a file like /proc/self/status, and returns the number of processors that it allows.
  private func count(_ status: String) throws -> Int {
    var path = Array("/tmp/leaktrace-status-XXXXXX".utf8CString)
    let descriptor = mkstemp(&path)
    try #require(descriptor >= 0)
    defer {
      close(descriptor)
      unlink(path)
    }
    #expect(status.utf8CString.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count - 1) } == status.utf8.count)
    return AllowedProcessors.count(status: path.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
  }

  @Test func maskHasABitForEachProcessor() throws {
    #expect(try count("Name:\ta\nCpus_allowed:\t1\nCpus_allowed_list:\t0\n") == 1)
    #expect(try count("Cpus_allowed:\tff,0000000c\nCpus_allowed_list:\t2-3,32-39\n") == 10)
  }

  @Test func processorsOfTheMachineCountWithoutAMask() throws {
    #expect(try count("Name:\ta\n") == sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    #expect(AllowedProcessors.count(status: "/nonexistent") == sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  }
}
