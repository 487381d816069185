// Four buffers on four lines of one function, none of which is freed: one cause at four places.
import Glibc

enum FormFields: FaultyProgram {
  static func faulty() { for page in 1...3 { fill(page, freeing: false) } }
  static func correct() { for page in 1...3 { fill(page, freeing: true) } }

  @inline(never) private static func fill(_ page: Int, freeing: Bool) {
    let name = strcpy(calloc(1, 24), "name")
    let street = strcpy(calloc(1, 60), "street")
    let city = strcpy(calloc(1, 130), "city")
    let remarks = strcpy(calloc(1, 2000), "remarks")
    note(Int(strlen(name!) + strlen(street!) + strlen(city!) + strlen(remarks!)) * page)
    if freeing { for field in [name, street, city, remarks] { free(field) } }
  }
}
