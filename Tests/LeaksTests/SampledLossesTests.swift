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
    #expect(SampledLosses.rounded(asked, among: sizes) == expected)
  }
}
