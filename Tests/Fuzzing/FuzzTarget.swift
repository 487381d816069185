// What libFuzzer calls with each input.

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  FuzzInput(Array(UnsafeBufferPointer(start: data, count: size)))?.readEverything()
  return 0
}
