// Leaks cycles of objects of three sizes. Prints, as JSON, how many of each class there are, and the bytes of each.

typealias Words8 = (Int, Int, Int, Int, Int, Int, Int, Int)
typealias Words64 = (Words8, Words8, Words8, Words8, Words8, Words8, Words8, Words8)
typealias Words512 = (Words64, Words64, Words64, Words64, Words64, Words64, Words64, Words64)

let zero8: Words8 = (0, 0, 0, 0, 0, 0, 0, 0)
let zero64: Words64 = (zero8, zero8, zero8, zero8, zero8, zero8, zero8, zero8)
let zero512: Words512 = (zero64, zero64, zero64, zero64, zero64, zero64, zero64, zero64)

final class Small {
  var next: Small?
  var words = zero8
}

final class Medium {
  var next: Medium?
  var words = zero64
}

final class Large {
  var next: Large?
  var words = zero512
}

let counts = (small: 2_000, medium: 500, large: 100)

@inline(never) func leakSmall() {
  for _ in 0..<counts.small {
    let object = Small()
    object.next = object
  }
}

@inline(never) func leakMedium() {
  for _ in 0..<counts.medium {
    let object = Medium()
    object.next = object
  }
}

@inline(never) func leakLarge() {
  for _ in 0..<counts.large {
    let object = Large()
    object.next = object
  }
}

leakSmall()
leakMedium()
leakLarge()

// An object has two words before its fields.
func size<Words>(of _: Words.Type) -> Int { 16 + 8 + MemoryLayout<Words>.size }

print(
  """
  {"Small": [\(counts.small), \(size(of: Words8.self))], "Medium": [\(counts.medium), \(size(of: Words64.self))], \
  "Large": [\(counts.large), \(size(of: Words512.self))]}
  """)
