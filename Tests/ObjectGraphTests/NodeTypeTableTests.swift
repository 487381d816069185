import Testing

@testable import HeapAnalysis

@Suite struct NodeTypeTableTests {
  @Test("Type indices survive widening of the table")
  func widening() {
    var table = NodeTypeTable(count: 4)
    table[1] = 7
    table[2] = UInt32(UInt16.max)
    #expect((0..<4).map { table[$0] } == [0, 7, 65535, 0])
    let copy = table
    table[3] = 65536
    table[0] = .max
    #expect((0..<4).map { table[$0] } == [.max, 7, 65535, 65536])
    #expect((0..<4).map { copy[$0] } == [0, 7, 65535, 0])
  }
}
