// Values of a dictionary that refer to the dictionary's owner.

final class Route {
  let router: Router?
  unowned let owner: Router
  let path: String

  init(_ path: String, router: Router?, owner: Router) {
    self.path = path
    self.router = router
    self.owner = owner
  }
}

final class Router {
  private var routes: [String: Route] = [:]

  func add(_ path: String) { routes[path] = Route(path, router: self, owner: self) }
  func addUnowned(_ path: String) { routes[path] = Route(path, router: nil, owner: self) }
  func match(_ path: String) -> Bool { routes[path] != nil }
}

enum RouteDictionary: FaultyProgram {
  static func faulty() { for _ in 0..<4 { serve() } }
  static func correct() { for _ in 0..<4 { serveUnowned() } }

  @inline(never) private static func serve() {
    let router = Router()
    for name in ["users", "orders", "invoices"] { router.add("/api/v1/\(name)") }
    note(router.match("/api/v1/users") ? 1 : 0)
  }

  @inline(never) private static func serveUnowned() {
    let router = Router()
    for name in ["users", "orders", "invoices"] { router.addUnowned("/api/v1/\(name)") }
    note(router.match("/api/v1/users") ? 1 : 0)
  }
}
