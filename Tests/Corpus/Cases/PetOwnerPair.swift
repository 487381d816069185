// Two objects that refer to each other through optionals.

final class PetOwner {
  var pet: Pet?
  let name: String
  init(name: String) { self.name = name }
}

final class Pet {
  var owner: PetOwner?
  weak var keeper: PetOwner?
  func call() { note((owner ?? keeper)?.name.count ?? 0) }
}

enum PetOwnerPair: FaultyProgram {
  static func faulty() { for number in 0..<9 { register(number) } }
  static func correct() { for number in 0..<9 { registerWeakly(number) } }

  @inline(never) private static func register(_ number: Int) {
    let owner = PetOwner(name: "owner \(number)")
    owner.pet = Pet()
    owner.pet?.owner = owner
    owner.pet?.call()
  }

  @inline(never) private static func registerWeakly(_ number: Int) {
    let owner = PetOwner(name: "owner \(number)")
    owner.pet = Pet()
    owner.pet?.keeper = owner
    owner.pet?.call()
  }
}
