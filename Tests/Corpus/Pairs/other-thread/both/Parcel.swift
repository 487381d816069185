final class Parcel {
  var delivered: (() -> Void)?
  var weight = 4
}

@inline(never) func send(_ count: Int) {
  for _ in 0..<count { pack() }
}

@inline(never) private func pack() {
  let parcel = Parcel()
  parcel.delivered = { note(parcel.weight) }
  parcel.delivered?()
}
