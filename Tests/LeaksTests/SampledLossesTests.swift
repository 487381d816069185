import Testing

@testable import LeakDetection

@Suite struct SampledLossesTests {
  @Test(
    arguments: [
      // Sizes of glibc, of jemalloc, and of a set made for this test.
      (61, [24, 72, 88], 72), (1, [24, 40], 24), (24, [24, 40], 24), (25, [24, 40], 40), (700, [640, 768, 896], 768),
      (300_000, [299_008, 303_088], 303_088),
      // No size is near enough.
      (100, [24, 40, 200], nil), (100, [], nil), (41, [24, 40], nil),
    ] as [(UInt64, [UInt64], UInt64?)])
  func sizeIsRoundedUpToTheNextClass(asked: UInt64, sizes: [UInt64], expected: UInt64?) {
    #expect(SampledLosses.rounded(asked, among: sizes, page: 4 << 10) == expected)
  }

  @Test(
    arguments: [
      // 128 KiB and a byte, in three pages of 64 KiB.
      (131_073, 196_592, 64, true), (131_073, 196_592, 16, false), (131_073, 196_592, 4, false),
      // 20,000 bytes in two pages of 16 KiB, after a lower threshold.
      (20_000, 32_752, 16, true), (20_000, 32_752, 4, false),
      // glibc takes the third page from 131,049 bytes on.
      (131_049, 196_592, 64, true), (131_048, 196_592, 64, false), (131_048, 131_056, 64, true),
      // Not at the end of a page.
      (131_073, 196_600, 64, false),
    ] as [(UInt64, UInt64, UInt64, Bool)])
  func sizeIsRoundedUpToWholePages(asked: UInt64, mapped: UInt64, kibibytes: UInt64, isAccepted: Bool) {
    let expected = isAccepted ? mapped : nil
    #expect(SampledLosses.rounded(asked, among: [mapped], page: kibibytes << 10) == expected)
  }
}
