// Gives each request its record.
import Hummingbird
import Logging

struct ShopContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  var audit: RequestAudit?

  init(source: ApplicationRequestContextSource) { coreContext = .init(source: source) }
}

struct AuditMiddleware: RouterMiddleware {
  let keepsSampled: Bool

  func handle(
    _ request: Request, context: ShopContext, next: (Request, ShopContext) async throws -> Response
  ) async throws -> Response {
    let audit = AuditTrail.begin(request.uri.path)
    defer { AuditTrail.end(audit, keepingSampled: keepsSampled) }
    var context = context
    context.audit = audit
    audit.note("began")
    let response = try await next(request, context)
    audit.note("answered \(response.status.code)")
    context.logger.debug("answered", metadata: ["path": .string(audit.path), "status": .stringConvertible(response.status.code)])
    return response
  }
}
