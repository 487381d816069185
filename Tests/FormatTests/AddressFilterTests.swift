// The set of addresses whose stacks are looked up.

import Testing
import TraceTestSupport

@testable import TraceReading

@Suite struct AddressFilterTests {
  @Test(arguments: [0, 1, 1_000, 100_000])
  func filterContainsEveryAddedAddress(count: Int) {
    let addresses = (0..<count).map { 0x7F00_0000_0000 + 48 * UInt64($0) }
    let filter = AddressFilter(addresses)
    #expect(addresses.allSatisfy(filter.mayContain))
  }

  @Test func filterContainsFewOtherAddresses() {
    let filter = AddressFilter((0..<10_000).map { 0x7F00_0000_0000 + 48 * UInt64($0) })
    let others = (0..<10_000).map { 0x5500_0000_0000 + 32 * UInt64($0) }
    #expect(others.count(where: filter.mayContain) < 1_250)
  }
}
