import HTTPTypes
import Hummingbird
import SignetCore

/// `.../realm-config/services`: only the OAuth 2.0 provider, which the configuration file describes.
struct ServicesResource {
    private let request: ConfigurationRequest

    init(_ request: ConfigurationRequest) { self.request = request }

    func respond() throws -> Response {
        switch request.method {
        case .get:
            guard case .service(let name) = request.address.resource else { return try request.reply(all: []) }
            guard name == Self.provider else { throw APIError.documentNotFound }
            return try request.reply(document)
        case .post where request.action == "nextdescendents" || request.action == "getAllTypes":
            return try request.reply(result: [])
        default: throw APIError(.notImplemented, "The services of this server are in its configuration file.")
        }
    }

    private static let provider = "oauth-oidc"

    private var document: JSONValue {
        let lifetimes = request.server.configuration.lifetimes
        return .object([
            "_id": .string(""),
            "_type": .object([
                "_id": .string(Self.provider), "name": .string("OAuth2 Provider"), "collection": .bool(false),
            ]),
            "coreOAuth2Config": .object([
                "codeLifetime": .integer(Int64(lifetimes.authorizationCode)),
                "accessTokenLifetime": .integer(Int64(lifetimes.accessToken)),
                "refreshTokenLifetime": .integer(Int64(lifetimes.refreshToken)), "issueRefreshToken": .bool(true),
                "issueRefreshTokenOnRefreshedToken": .bool(true),
            ]),
            "coreOIDCConfig": .object(["jwtTokenLifetime": .integer(Int64(lifetimes.idToken))]),
        ])
    }
}
