import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// What Hummingbird tells about a connection; nothing of it is needed.
struct DeskContext: InitializableFromSource {
    init(source: ApplicationRequestContextSource) {}
}

/// Finds the resource that a request is for, and turns refusals into answers.
struct DeskResponder: HTTPResponder {
    let desk: Desk

    func respond(to request: Request, context: DeskContext) async throws -> Response {
        let response = try await answer(request)
        guard request.method == .head else { return response }
        return response.createHeadResponse()
    }

    private func answer(_ request: Request) async throws -> Response {
        var version: APIVersion?
        do {
            return try await route(RequestReader(request: request, largestBody: desk.configuration.largestBody), &version)
        } catch let refusal as Refusal {
            if let reason = refusal.reason { desk.logger.info("login failed", metadata: ["reason": "\(reason)"]) }
            return try JSONReply.make(refusal, version: version)
        } catch {
            desk.logger.error("a request could not be answered", metadata: ["error": "\(type(of: error))"])
            return try JSONReply.make(Refusal(.internalServerError, "The request could not be answered."), version: version)
        }
    }

    private func route(_ reader: RequestReader, _ version: inout APIVersion?) async throws -> Response {
        let full = reader.request.uri.path
        guard full.hasPrefix(desk.contextPath + "/") else { throw Refusal.resourceNotFound }
        let path = full.dropFirst(desk.contextPath.count)
        if path == "/health" {
            try reader.require(.get)
            return try JSONReply.make(.ok, JSONValue.object([:]))
        }
        guard let address = ResourceAddress(path: path, realmParameter: reader.query("realm")) else {
            throw Refusal.resourceNotFound
        }
        guard desk.has(address.realm) else { throw Refusal.unknownRealm(address.realm) }
        switch address.resource {
        case .authenticate:
            let resource = AuthenticateResource(desk: desk)
            version = resource.version
            return try await resource.respond(to: reader, realm: address.realm)
        case .pushMessage:
            let resource = PushMessageResource(desk: desk)
            version = resource.version
            return try await resource.respond(to: reader, realm: address.realm)
        case .pushDesk:
            return try PushDeskResource(desk: desk).respond(to: reader, realm: address.realm)
        }
    }
}
