// A program that links LeakTrace but is not recorded: the calls do nothing.

import LeakTrace
import Testing

@Suite struct LeakTraceTests {
  @Test func unrecordedProgramHasNoHeapProfile() {
    #expect(LeakTrace.heapProfile() == nil)
  }
}
