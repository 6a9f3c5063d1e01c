import Hummingbird
import SignetCore

/// `POST /json/.../users?_action=...`: the user of a session, and the check of an address to go to after a login.
struct UsersController: Sendable {
    static let versions = [APIVersion(3, 0), APIVersion(2, 1)]
    let server: ServerContext

    private enum Action: String {
        case idFromSession
        case validateGoto
    }

    func act(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        let version = try AcceptAPIVersion.check(request.header("accept-api-version"), served: Self.versions)
        let body = try await request.json(context)
        let action: Action = try request.action()
        let tokens = request.sessionTokens(server.configuration.cookieName)
        let goto = body["goto"]?.string
        let (user, permitted) = try await server.store.read { tx in
            guard let found = try tx.findSession(tokens, in: realm) else { throw APIError.accessDenied }
            return (found.session.user, goto.flatMap { ReturnAddress.isPermitted($0, in: realm, tx) ? $0 : nil })
        }
        switch action {
        case .idFromSession:
            let body: [String: JSONValue] = [
                "id": .string(user.name), "realm": .string(realm.description), "dn": .string(user.universalID),
                "successURL": .string(server.defaultSuccessURL),
                "fullLoginURL": .string("\(server.contextPath)/XUI/?realm=\(realm.description.percentEncoded())"),
            ]
            return try JSONReply.make(.ok, body, version: version)
        case .validateGoto:
            let body: [String: JSONValue] = ["successURL": .string(permitted ?? server.defaultSuccessURL)]
            return try JSONReply.make(.ok, body, version: version)
        }
    }
}

extension ServerContext {
    /// The address to which a client goes after a login that names no other one, as in AM.
    var defaultSuccessURL: String { "\(contextPath)/console" }
}
