// The fields that may have held a part of an object.

import Testing

@testable import HeapAnalysis
@testable import LeakDetection

@Suite struct OwnedPlacesTests {
  @Test(arguments: [
    ("[String: Order]", "Swift.Dictionary<Swift.String, App.Order>", true),
    ("[String: Order]", "Swift.Dictionary<Swift.String, Swift.Array<App.Order>>", false),
    ("[String: Array<Order>]", "Swift.Dictionary<Swift.String, Swift.Array<App.Order>>", true),
    ("[Order]", "Swift.Array<App.Order>", true),
    ("[Order]", "Swift.Array<App.Guest>", false),
    // Arrays of all classes have one type of storage.
    ("[AnyObject]", "Swift.Array<App.Guest>", true),
    ("[AnyObject]", "Swift.Dictionary<Swift.Int, App.Guest>", false),
    ("Set<Int>", "Swift.Set<Swift.Int>", true),
    ("Order", "App.Order", true), ("Order", "App.Guest", false),
  ])
  func partFitsFieldsOfItsType(part: String, field: String, fits: Bool) {
    #expect(TypeShape(part).fits(TypeShape(field)) == fits)
  }
}
