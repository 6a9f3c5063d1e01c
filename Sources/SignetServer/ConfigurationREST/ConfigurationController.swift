import HTTPTypes
import Hummingbird
import SignetCore

/// AM's configuration REST: journeys with their nodes and scripts, OAuth 2.0 clients, realms and users, for frodo and other tools
/// of administrators (docs/reference/configuration-rest.md).
///
/// Changes last until a reload, a reset or a restart, as those of `/admin` do.
struct ConfigurationController: Sendable {
    let server: ServerContext

    /// Returns the version of a resource.
    static func version(of resource: ConfigurationAddress.Resource) -> APIVersion {
        switch resource {
        case .users, .user: APIVersion(3, 0)
        default: APIVersion(1, 0)
        }
    }

    func respond(_ request: Request, context: AppRequestContext) async throws -> Response {
        guard let address = context.configuration,
            LoopbackPolicy(server, context.client).admits(request, to: server.configuration.configurationREST)
        else { throw HTTPError(.notFound) }
        let tokens = request.sessionTokens(server.configuration.cookieName)
        _ = try await server.store.write { tx in try tx.administrator(tokens, of: address.realm) }
        try check(request, address)
        let request = ConfigurationRequest(request: request, context: context, address: address, server: server)
        switch address.resource {
        case .trees, .tree: return try await TreesResource(request).respond()
        case .nodes, .nodesOfType, .node: return try await NodesResource(request).respond()
        case .scripts, .script: return try await ScriptsResource(request).respond()
        case .agents, .agentsOfType, .agent: return try await AgentsResource(request).respond()
        case .services, .service: return try ServicesResource(request).respond()
        case .realms, .realm: return try RealmsResource(request).respond()
        case .users, .user: return try await UsersResource(request).respond()
        case .unknown(let path): throw APIError(.notFound, "Resource '\(path.prefix(100))' not found")
        }
    }

    /// Checks that the client accepts the version of the resource.
    ///
    /// Tools ask for different versions of resources that are the same here.
    private func check(_ request: Request, _ address: ConfigurationAddress) throws(APIError) {
        let newest = Self.version(of: address.resource)
        let served = (1...max(newest.major, 4)).reversed().map { APIVersion($0, 1) }
        _ = try AcceptAPIVersion.check(request.header("accept-api-version"), served: [newest] + served)
    }
}

extension ConfigurationRequest {
    /// The error for a method that a resource does not have.
    func wrongMethod(_ allowed: HTTPRequest.Method...) -> APIError { .methodNotAllowed(allowed) }
}
