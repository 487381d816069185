// A program that links LeakTrace and is not recorded: every call does nothing.

import LeakTrace
import Testing

@Suite struct LeakTraceTests {
  @Test func aProgramThatIsNotRecordedHasNoHeapProfile() {
    #expect(LeakTrace.heapProfile() == nil)
  }
}
