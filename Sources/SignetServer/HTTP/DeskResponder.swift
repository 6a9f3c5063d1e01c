import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import SignetCore

/// What Hummingbird tells about a connection that is needed.
struct DeskContext: InitializableFromSource {
    /// Whether the client is on this machine. One that has no address is in this process.
    let isLocal: Bool

    init(source: ApplicationRequestContextSource) {
        isLocal = source.channel.remoteAddress.map { Self.isLoopback($0) } ?? true
    }

    private static func isLoopback(_ address: SocketAddress) -> Bool {
        switch address {
        case .unixDomainSocket: true
        case .v4, .v6: address.ipAddress.map { EndpointPolicy.isLoopback($0) } ?? false
        }
    }
}

/// Finds the resource that a request is for, and turns refusals into answers.
struct DeskResponder: HTTPResponder {
    let desk: Desk

    func respond(to request: Request, context: DeskContext) async throws -> Response {
        let (began, moment) = (ContinuousClock.now, desk.clock.now)
        let response = try await answer(request, context)
        let path = journalPath(request.uri.path)
        // Who looks at the journal does not want to see that.
        if !path.hasPrefix("\(desk.contextPath)/console") {
            desk.journal.add(request.method, path, response.status, at: moment, took: .now - began)
        }
        guard request.method == .head else { return response }
        return response.createHeadResponse()
    }

    /// A path without what nobody may read: there are addresses with a session's token in them.
    private func journalPath(_ path: String) -> String {
        let readable = path.contains("%") ? path.percentDecoded() ?? path : path
        guard let start = readable.firstRange(of: "/sessions/")?.upperBound else { return path }
        return readable[..<start] + "..."
    }

    private func answer(_ request: Request, _ context: DeskContext) async throws -> Response {
        var version: APIVersion?
        do {
            return try await route(
                RequestReader(request: request, largestBody: desk.configuration.largestBody), context, &version)
        } catch let refusal as Refusal {
            if let reason = refusal.reason { desk.logger.info("login failed", metadata: ["reason": "\(reason)"]) }
            return try JSONReply.make(refusal, version: version)
        } catch let refusal as OAuthRefusal {
            desk.logger.info("OAuth 2.0 request refused", metadata: ["error": "\(refusal.code)", "reason": "\(refusal.message)"])
            return try refusal.response
        } catch {
            desk.logger.error("a request could not be answered", metadata: ["error": "\(type(of: error))"])
            return try JSONReply.make(Refusal(.internalServerError, "The request could not be answered."), version: version)
        }
    }

    private func route(
        _ reader: RequestReader, _ context: DeskContext, _ version: inout APIVersion?
    ) async throws -> Response {
        let full = reader.request.uri.path
        guard full.hasPrefix(desk.contextPath + "/") else { throw Refusal.resourceNotFound }
        let path = full.dropFirst(desk.contextPath.count)
        if path == "/health" {
            try reader.require(.get)
            return try JSONReply.make(.ok, JSONValue.object([:]))
        }
        if path == "/console" || path.hasPrefix("/console/") {
            return try await ConsolePages(desk: desk)
                .respond(to: reader, path: path.dropFirst("/console".count), isLocal: context.isLocal)
        }
        if path == "/XUI" || path.hasPrefix("/XUI/") {
            return try await LoginPages(desk: desk).respond(to: reader, path: path.dropFirst("/XUI".count))
        }
        guard let address = ResourceAddress(path: path, realmParameter: reader.query("realm")) else {
            throw Refusal.resourceNotFound
        }
        guard desk.has(address.realm) else { throw Refusal.unknownRealm(address.realm) }
        switch address.resource.family {
        case .json:
            version = address.resource.newestVersion
            return try await json(reader, address)
        case .oauth2: return try await oauth(reader, address)
        }
    }

    private func json(_ reader: RequestReader, _ address: ResourceAddress) async throws -> Response {
        switch address.resource {
        case .authenticate: try await AuthenticateResource(desk: desk).respond(to: reader, realm: address.realm)
        case .sessions, .session: try await SessionsResource(desk: desk).respond(to: reader, address)
        case .secondFactorDevices, .secondFactorDevice, .profileDevices, .profileDevice:
            try await UserDevicesResource(desk: desk).respond(to: reader, address)
        case .pushMessage: try await PushMessageResource(desk: desk).respond(to: reader, realm: address.realm)
        case .pushDesk: try PushDeskResource(desk: desk).respond(to: reader, realm: address.realm)
        default: throw Refusal.resourceNotFound
        }
    }

    private func oauth(_ reader: RequestReader, _ address: ResourceAddress) async throws -> Response {
        let realm = address.realm
        return switch address.resource {
        case .authorize: try await AuthorizeResource(desk: desk).respond(to: reader, realm: realm)
        case .accessToken: try await TokenResource(desk: desk).respond(to: reader, realm: realm)
        case .revocation: try await RevocationResource(desk: desk).respond(to: reader, realm: realm)
        case .introspection: try await IntrospectionResource(desk: desk).respond(to: reader, realm: realm)
        case .userInfo: try await UserInfoResource(desk: desk).respond(to: reader, realm: realm)
        case .endSession: try await EndSessionResource(desk: desk).respond(to: reader, realm: realm)
        case .keys: try await DiscoveryResource(desk: desk).keys(reader)
        case .discovery: try DiscoveryResource(desk: desk).respond(to: reader, realm: realm)
        case .deviceCode: try await DeviceCodeResource(desk: desk).respond(to: reader, realm: realm)
        case .deviceUser: try await DeviceUserResource(desk: desk).respond(to: reader, realm: realm)
        default: throw Refusal.resourceNotFound
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
