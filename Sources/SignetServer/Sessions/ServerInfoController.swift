import Crypto
import Hummingbird
import SignetCore

/// `GET /json/.../serverinfo/*`: what a login page, an agent or a tool must know of the server before it does anything else.
///
/// The answers follow the configuration.
struct ServerInfoController: Sendable {
    static let version = APIVersion(1, 1)
    /// The version of AM whose REST API tools expect of this server.
    ///
    /// They read it to decide which requests to send.
    static let amVersion = "7.5.0"
    let server: ServerContext

    private enum Item: String {
        case all = "*"
        case cookieDomains
        case version
    }

    func info(_ request: Request, context: AppRequestContext) async throws -> Response {
        try AcceptAPIVersion.check(request.header("accept-api-version"), served: Self.version)
        guard let item = Item(rawValue: try context.parameter("item")) else { throw APIError.resourceNotFound }
        switch item {
        case .all: return try Self.reply(item, settings(of: context.realm))
        case .cookieDomains: return try Self.reply(item, ["domains": domains])
        case .version:
            try await requireAdministrator(request, context.realm)
            return try Self.reply(
                item,
                [
                    "version": .string(Self.amVersion),
                    "fullVersion": .string("Signet, compatible with ForgeRock Access Management \(Self.amVersion)"),
                ])
        }
    }

    /// The domains to which browsers send the session cookie; none for this host only.
    private var domains: JSONValue { .texts(server.configuration.cookieDomain.map { [$0] } ?? []) }

    private func settings(of realm: RealmPath) -> [String: JSONValue] {
        let cookie = SessionCookie(server.time)
        // Self-service is part of journeys, and a login with the name and the password in a query does not exist.
        let absent = JSONValue.string("false")
        return [
            "realm": .string(realm.description), "domains": domains, "cookieName": .string(cookie.name),
            "secureCookie": .bool(cookie.hasSecure),
            "cookieSameSite": .string(server.configuration.cookieSameSite.rawValue), "lang": .string("en"),
            "forgotPassword": absent, "forgotUsername": absent, "kbaEnabled": absent, "selfRegistration": absent,
            "referralsEnabled": absent, "protectedUserAttributes": .array([]), "socialImplementations": .array([]),
            "successfulUserRegistrationDestination": .string("default"), "xuiUserSessionValidationEnabled": .bool(true),
            "zeroPageLogin": .object([
                "enabled": .bool(false), "refererWhitelist": .array([]), "allowedWithoutReferer": .bool(true),
            ]),
        ]
    }

    /// Requires a session of an administrator in the realm, because AM tells its version to no other user.
    private func requireAdministrator(_ request: Request, _ realm: RealmPath) async throws {
        let tokens = request.sessionTokens(server.configuration.cookieName)
        let isAdministrator = try await server.store.read { tx in
            try tx.findSession(tokens, in: realm).map { tx.directory.isAdministrator($0.session.user) }
        }
        guard let isAdministrator else { throw APIError(.forbidden, "No session for request.") }
        guard isAdministrator else { throw APIError(.forbidden, "The user has insufficient privileges") }
    }

    /// Returns a resource with its ID and its revision, which changes with the content.
    private static func reply(_ item: Item, _ content: [String: JSONValue]) throws -> Response {
        var body = content
        let revision = Base64.encode(Array(SHA256.hash(data: JSON.encode(.object(content))).prefix(9)), as: .url)
        (body["_id"], body["_rev"]) = (.string(item.rawValue), .string(revision))
        return try JSONReply.make(.ok, body, headers: [.eTag: "\"\(revision)\""], version: version)
    }
}
