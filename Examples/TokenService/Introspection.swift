import Foundation
import SignetCore
import SignetNetwork

/// The content of an answer to an introspection request (RFC 7662 section 2.2).
struct AccessClaims: Decodable, Sendable {
    let active: Bool
    let sub: String?
    let scope: String?
    /// The expiration time, in seconds since 1970.
    let exp: Double?

    var scopes: Set<String> { Set((scope ?? "").split(separator: " ").map { String($0) }) }
}

/// Asks the provider whether an access token is active (RFC 7662).
///
/// Access tokens are opaque to all parties except the provider: those of AM are references by default, and an app must not depend
/// on the format of others (RFC 9068 is a profile of some).
actor Introspection {
    private let issuer: String
    private let clientID: String
    private let secret: Secret
    private let transport: any HTTPTransport
    private var address: String?

    /// Creates the requests of a client.
    /// - Parameters:
    ///   - issuer: The issuer of the provider, whose discovery document has the address.
    ///   - clientID: The ID of the client that asks.
    ///   - secret: The secret of that client.
    ///   - transport: The transport that sends the requests.
    init(issuer: String, clientID: String, secret: Secret, transport: any HTTPTransport) {
        self.issuer = issuer
        self.clientID = clientID
        self.secret = secret
        self.transport = transport
    }

    /// Returns the claims of an access token; nil for a token that is not active.
    /// - Throws: `TransportError`; ``Failure`` and `DecodingError` for an answer that is not one of this protocol; `EndpointError`
    ///   for an address to which no secret may be sent.
    func claims(of token: Secret) async throws -> AccessClaims? {
        let credentials = Data("\(Self.encoded(clientID)):\(Self.encoded(secret.text))".utf8).base64EncodedString()
        let request = HTTPRequest(
            "POST", try await endpoint(),
            headers: [
                "Authorization": "Basic \(credentials)", "Accept": "application/json",
                "Content-Type": "application/x-www-form-urlencoded",
            ], body: Array("token=\(Self.encoded(token.text))&token_type_hint=access_token".utf8))
        let claims = try Self.decoded(AccessClaims.self, of: try await transport.send(request))
        return claims.active ? claims : nil
    }

    /// Returns the address, which the first call reads in the discovery document (OpenID Connect Discovery 1.0 section 4).
    private func endpoint() async throws -> String {
        if let address { return address }
        let location = try Endpoint(issuer + "/.well-known/openid-configuration").url
        let document = try Self.decoded(Discovery.self, of: try await transport.send(HTTPRequest("GET", location)))
        guard document.issuer == issuer else { throw Failure(reason: "the discovery document is that of \(document.issuer)") }
        let found = try Endpoint(document.introspectionEndpoint).url
        address = found
        return found
    }

    private struct Discovery: Decodable {
        let issuer: String
        let introspectionEndpoint: String

        enum CodingKeys: String, CodingKey {
            case issuer
            case introspectionEndpoint = "introspection_endpoint"
        }
    }

    /// An answer that the service cannot use.
    struct Failure: Error {
        let reason: String
    }

    private static func decoded<Value: Decodable>(_ type: Value.Type, of response: HTTPResponse) throws -> Value {
        guard response.status == 200 else { throw Failure(reason: "the provider answered with status \(response.status)") }
        return try JSONDecoder().decode(type, from: Data(response.body))
    }

    /// Returns a text as in a form (RFC 6749 section 2.3.1 requires it for the credentials, too).
    private static func encoded(_ text: String) -> String {
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        return text.addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: unreserved)) ?? ""
    }
}
