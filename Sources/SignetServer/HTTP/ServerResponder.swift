import HTTPTypes
import Hummingbird
import Logging
import NIOHTTP1
import SignetCore
import SignetStorage

/// Routes each request to its resource, and turns errors into responses.
struct ServerResponder: HTTPResponder {
    let server: ServerContext

    func respond(to request: Request, context: AppRequestContext) async throws -> Response {
        let (began, moment, notes) = (ContinuousClock.now, server.clock.now, RequestLogContext())
        let path = requestLogPath(request.uri.path)
        let route = RouteName(request.uri.path, below: server.contextPath, gateway: server.configuration.pushGateway)
        // Set the resource first, so that a request that a guard rejects has one in the log too.
        notes.note { $0.resource = route.name }
        // A tester that reads the log doesn't need the tester's own requests in it, unless they failed. Faults don't apply to
        // them either, so that a fault can always be switched off.
        let isTesters = isTesters(path)
        func record(_ status: HTTPResponse.Status) {
            guard !isTesters || status.kind == .serverError else { return }
            notes.note { $0.client.address = context.address }
            server.requestLog.add(request, path: path, status, notes, at: moment, took: .now - began)
        }
        var response: Response
        do {
            response = try await RequestGuards(server: server).pass(request, for: route, context, notes) {
                isTesters ? try await answer($0, for: route, context, notes) : try await faulty($0, for: route, context, notes)
            }
        } catch let error as HTTPParserError {
            // The request isn't HTTP: the HTTP layer below answers it.
            record(.badRequest)
            throw error
        }
        record(response.status)
        // Tell the client to send no more requests on this connection (RFC 9112 section 9.6).
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

    /// Returns true for a path of the console or of the administration API.
    private func isTesters(_ path: String) -> Bool {
        guard path.hasPrefix("\(server.contextPath)/") else { return false }
        let first = path.dropFirst(server.contextPath.count + 1).prefix { $0 != "/" }
        return first == "console" || first == "admin"
    }

    /// Returns a path for the log without secrets: some session addresses contain a session token.
    private func requestLogPath(_ path: String) -> String {
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
                request: request, largestBody: server.configuration.maxBodySize, telemetry: server.telemetry, notes: notes)
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
            // The request isn't HTTP: the HTTP layer below answers it.
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
        if let keys = server.gatewayKeys, let gateway = server.configuration.pushGateway, gateway.isAt(full) {
            return try await PushGatewayResource(server: server, keys: keys).respond(to: reader)
        }
        guard full.hasPrefix(server.contextPath + "/") else { throw APIError.resourceNotFound }
        let path = full.dropFirst(server.contextPath.count)
        if path == "/health" || path.hasPrefix("/health/") {
            return try await HealthController(server: server).respond(to: reader, path: path.dropFirst("/health".count))
        }
        if path == "/console" || path.hasPrefix("/console/") {
            return try await ConsoleController(server: server)
                .respond(
                    to: reader, path: path.dropFirst("/console".count), isLocal: LoopbackPolicy(server, context).admits(reader))
        }
        if path == "/admin" || path.hasPrefix("/admin/") {
            return try await AdminController(server: server)
                .respond(
                    to: reader, path: path.dropFirst("/admin".count),
                    isLocal: LoopbackPolicy(server, context).admitsProgram(reader))
        }
        if path == "/XUI" || path.hasPrefix("/XUI/") {
            return try await LoginController(server: server).respond(to: reader, path: path.dropFirst("/XUI".count))
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
        case .authenticate: try await AuthenticateController(server: server).respond(to: reader, realm: address.realm)
        case .sessions, .session: try await SessionsController(server: server).respond(to: reader, address)
        case .secondFactorDevices, .secondFactorDevice, .profileDevices, .profileDevice:
            try await UserDevicesController(server: server).respond(to: reader, address)
        case .pushMessage: try await PushMessageController(server: server).respond(to: reader, realm: address.realm)
        case .pushStream: try await PushStreamController(server: server).respond(to: reader, realm: address.realm)
        default: throw APIError.resourceNotFound
        }
    }

    private func oauth(_ reader: RequestReader, _ address: ResourceAddress) async throws -> Response {
        let realm = address.realm
        return switch address.resource {
        case .authorize: try await AuthorizeController(server: server).respond(to: reader, realm: realm)
        case .accessToken: try await TokenController(server: server).respond(to: reader, realm: realm)
        case .revocation: try await RevocationController(server: server).respond(to: reader, realm: realm)
        case .introspection: try await IntrospectionController(server: server).respond(to: reader, realm: realm)
        case .userInfo: try await UserInfoController(server: server).respond(to: reader, realm: realm)
        case .endSession: try await EndSessionController(server: server).respond(to: reader, realm: realm)
        case .keys: try await DiscoveryController(server: server).keys(reader)
        case .discovery: try DiscoveryController(server: server).respond(to: reader, realm: realm)
        case .deviceCode: try await DeviceCodeController(server: server).respond(to: reader, realm: realm)
        case .deviceUser: try await DeviceUserController(server: server).respond(to: reader, realm: realm)
        default: throw APIError.resourceNotFound
        }
    }
}

extension ResourceAddress.Resource {
    /// The newest version of a versioned resource. Error responses that occur before the negotiation name it.
    fileprivate var newestVersion: APIVersion? {
        switch self {
        case .authenticate: AuthenticateController.version
        case .sessions, .session: SessionsController.versions.first
        case .secondFactorDevices, .secondFactorDevice, .profileDevices, .profileDevice: UserDevicesController.version
        case .pushMessage: PushMessageController.version
        default: nil
        }
    }
}
