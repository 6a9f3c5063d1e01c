import HTTPTypes
import Hummingbird
import Logging
import NIOHTTP1
import SignetCore
import SignetStorage

/// Finds the resource that a request is for, and turns refusals into answers.
struct ServerResponder: HTTPResponder {
    let server: ServerContext

    func respond(to request: Request, context: AppRequestContext) async throws -> Response {
        let (began, moment, notes) = (ContinuousClock.now, server.clock.now, RequestLogContext())
        let path = journalPath(request.uri.path)
        let route = RouteName(request.uri.path, below: server.contextPath, front: server.configuration.pushFront)
        // Whatever becomes of it: also what is refused at the door was for something.
        notes.note { $0.resource = route.name }
        // Who looks at the journal does not want to see that, unless it went wrong, nor be kept from switching a fault off.
        let isTesters = isTesters(path)
        func record(_ status: HTTPResponse.Status) {
            guard !isTesters || status.kind == .serverError else { return }
            notes.note { $0.client.address = context.address }
            server.journal.add(request, path: path, status, notes, at: moment, took: .now - began)
        }
        var response: Response
        do {
            response = try await RequestGuards(server: server).pass(request, for: route, context, notes) {
                isTesters ? try await answer($0, for: route, context, notes) : try await faulty($0, for: route, context, notes)
            }
        } catch let error as HTTPParserError {
            // What is no HTTP, the layer below has an answer for.
            record(.badRequest)
            throw error
        }
        record(response.status)
        // The client has to know not to send another request on this connection (RFC 9112 section 9.6).
        if request.headers[.connection] == "close" { response.headers[.connection] = "close" }
        guard request.method == .head else { return response }
        return response.createHeadResponse()
    }

    private func faulty(
        _ request: Request, for route: RouteName, _ context: AppRequestContext, _ notes: RequestLogContext
    ) async throws -> Response {
        guard !server.faults.isIdle else { return try await answer(request, for: route, context, notes) }
        return try await FaultInjector(server: server, context: context, notes: notes, route: route).respond(to: request) {
            try await answer($0, for: route, context, notes)
        } refuse: {
            try refusal($0, request.method, for: route, notes)
        }
    }

    /// Whether a path is one of the console or of the administration.
    private func isTesters(_ path: String) -> Bool {
        guard path.hasPrefix("\(server.contextPath)/") else { return false }
        let first = path.dropFirst(server.contextPath.count + 1).prefix { $0 != "/" }
        return first == "console" || first == "admin"
    }

    /// A path without what nobody may read: there are addresses with a session's token in them.
    private func journalPath(_ path: String) -> String {
        let readable = path.contains("%") ? path.percentDecoded() ?? path : path
        guard let start = readable.firstRange(of: "/sessions/")?.upperBound else { return path }
        return readable[..<start] + "..."
    }

    private func answer(
        _ request: Request, for route: RouteName, _ context: AppRequestContext, _ notes: RequestLogContext
    ) async throws -> Response {
        var version: APIVersion?
        do {
            let reader = RequestReader(
                request: request, largestBody: server.configuration.largestBody, telemetry: server.telemetry, notes: notes)
            return try await self.route(reader, context, &version)
        } catch {
            return try refusal(error, request.method, for: route, version: version, notes)
        }
    }

    private func refusal(
        _ error: any Error, _ method: HTTPRequest.Method, for route: RouteName, version: APIVersion? = nil,
        _ notes: RequestLogContext
    ) throws -> Response {
        func told(_ refusal: APIError) throws -> Response {
            notes.note { $0.problem = refusal.message }
            return try refusal.response(for: route, method, at: server, version: version)
        }
        switch error {
        case let refusal as APIError:
            if let reason = refusal.reason { server.logger.info("login failed", metadata: ["reason": "\(reason)"]) }
            return try told(refusal)
        case let refusal as OAuthErrorResponse:
            server.logger.info(
                "OAuth 2.0 request refused", metadata: ["error": "\(refusal.code)", "reason": "\(refusal.message)"])
            notes.note { $0.problem = refusal.code }
            return try refusal.response
        case let error as StoreError:
            server.logger.error("the state failed", metadata: ["code": "\(error.code.rawValue)", "reason": "\(error)"])
            return try told(.stateFailed)
        case let error as HTTPParserError:
            // The request is no HTTP, which the layer below has words for.
            throw error
        default:
            server.logger.error("a request could not be answered", metadata: ["error": "\(type(of: error))"])
            return try told(APIError(.internalServerError, "The request could not be answered."))
        }
    }

    private func route(
        _ reader: RequestReader, _ context: AppRequestContext, _ version: inout APIVersion?
    ) async throws -> Response {
        let full = reader.request.uri.path
        if let keys = server.frontKeys, let front = server.configuration.pushFront, front.isAt(full) {
            return try await PushGatewayResource(server: server, keys: keys).respond(to: reader)
        }
        guard full.hasPrefix(server.contextPath + "/") else { throw APIError.resourceNotFound }
        let path = full.dropFirst(server.contextPath.count)
        if path == "/health" || path.hasPrefix("/health/") {
            return try await HealthResource(server: server).respond(to: reader, path: path.dropFirst("/health".count))
        }
        if path == "/console" || path.hasPrefix("/console/") {
            return try await ConsolePages(server: server)
                .respond(
                    to: reader, path: path.dropFirst("/console".count), isLocal: LoopbackPolicy(server, context).admits(reader))
        }
        if path == "/admin" || path.hasPrefix("/admin/") {
            return try await AdminResource(server: server)
                .respond(
                    to: reader, path: path.dropFirst("/admin".count),
                    isLocal: LoopbackPolicy(server, context).admitsProgram(reader))
        }
        if path == "/XUI" || path.hasPrefix("/XUI/") {
            return try await LoginPages(server: server).respond(to: reader, path: path.dropFirst("/XUI".count))
        }
        guard let address = ResourceAddress(path: path, realmParameter: reader.query("realm")) else {
            throw APIError.resourceNotFound
        }
        guard server.has(address.realm) else { throw APIError.unknownRealm(address.realm) }
        switch address.resource.family {
        case .json:
            version = address.resource.newestVersion
            return try await json(reader, address)
        case .oauth2: return try await oauth(reader, address)
        }
    }

    private func json(_ reader: RequestReader, _ address: ResourceAddress) async throws -> Response {
        switch address.resource {
        case .authenticate: try await AuthenticateResource(server: server).respond(to: reader, realm: address.realm)
        case .sessions, .session: try await SessionsResource(server: server).respond(to: reader, address)
        case .secondFactorDevices, .secondFactorDevice, .profileDevices, .profileDevice:
            try await UserDevicesResource(server: server).respond(to: reader, address)
        case .pushMessage: try await PushMessageResource(server: server).respond(to: reader, realm: address.realm)
        case .pushStream: try await PushStreamResource(server: server).respond(to: reader, realm: address.realm)
        default: throw APIError.resourceNotFound
        }
    }

    private func oauth(_ reader: RequestReader, _ address: ResourceAddress) async throws -> Response {
        let realm = address.realm
        return switch address.resource {
        case .authorize: try await AuthorizeResource(server: server).respond(to: reader, realm: realm)
        case .accessToken: try await TokenResource(server: server).respond(to: reader, realm: realm)
        case .revocation: try await RevocationResource(server: server).respond(to: reader, realm: realm)
        case .introspection: try await IntrospectionResource(server: server).respond(to: reader, realm: realm)
        case .userInfo: try await UserInfoResource(server: server).respond(to: reader, realm: realm)
        case .endSession: try await EndSessionResource(server: server).respond(to: reader, realm: realm)
        case .keys: try await DiscoveryResource(server: server).keys(reader)
        case .discovery: try DiscoveryResource(server: server).respond(to: reader, realm: realm)
        case .deviceCode: try await DeviceCodeResource(server: server).respond(to: reader, realm: realm)
        case .deviceUser: try await DeviceUserResource(server: server).respond(to: reader, realm: realm)
        default: throw APIError.resourceNotFound
        }
    }
}

extension ResourceAddress.Resource {
    /// The newest version of a resource that has versions: what an answer names that comes before one was chosen.
    fileprivate var newestVersion: APIVersion? {
        switch self {
        case .authenticate: AuthenticateResource.version
        case .sessions, .session: SessionsResource.versions.first
        case .secondFactorDevices, .secondFactorDevice, .profileDevices, .profileDevice: UserDevicesResource.version
        case .pushMessage: PushMessageResource.version
        default: nil
        }
    }
}
