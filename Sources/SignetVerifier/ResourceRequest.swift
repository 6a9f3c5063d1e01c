import SignetCore

/// The parts of an HTTP request to a service that its access token is verified with.
public struct ResourceRequest: Sendable, Hashable {
    /// The method, in upper case.
    public let method: String
    /// The path of the request target, percent-encoded as it was received and without the query.
    public let path: String
    /// The values of all header fields `Authorization`.
    public let authorization: [String]
    /// The values of all header fields `DPoP`.
    public let proofs: [String]

    /// Creates a request.
    /// - Parameters:
    ///   - method: The method, in upper case.
    ///   - path: The path of the request target, without the query.
    ///   - authorization: The values of all header fields `Authorization`.
    ///   - proofs: The values of all header fields `DPoP`.
    public init(method: String, path: String, authorization: [String], proofs: [String] = []) {
        self.method = method
        self.path = path
        self.authorization = authorization
        self.proofs = proofs
    }
}

/// An authentication scheme with an access token.
enum AccessTokenScheme: String, Sendable, CaseIterable {
    /// Each holder of the token may use it (RFC 6750 section 2.1).
    case bearer = "Bearer"
    /// The client proves in each request that it has the key of the token (RFC 9449 section 7.1).
    case dpop = "DPoP"
}

extension ResourceRequest {
    /// The maximum length of an access token, in bytes.
    static let maximumTokenLength = 65_536

    /// The scheme of the first header field; nil for another scheme than those of access tokens.
    var scheme: AccessTokenScheme? {
        guard let name = authorization.first?.prefix(while: { $0 != " " }).lowercased() else { return nil }
        return AccessTokenScheme.allCases.first { $0.rawValue.lowercased() == name }
    }

    /// Returns the access token and its scheme.
    /// - Throws: `AccessTokenError` with the code `missing` for a request without a token, and `request` for several header fields
    ///   and for a token with other characters than RFC 6750 section 2.1 allows.
    func credentials() throws(AccessTokenError) -> (scheme: AccessTokenScheme, token: Secret) {
        guard let field = authorization.first else { throw AccessTokenError(.missing) }
        guard authorization.count == 1 else { throw AccessTokenError(.request, explanation: "several Authorization fields") }
        guard let scheme else { throw AccessTokenError(.missing) }
        let token = field.dropFirst(scheme.rawValue.count).drop { $0 == " " }
        guard !token.isEmpty, token.utf8.count <= Self.maximumTokenLength, token.utf8.allSatisfy(Self.isTokenCharacter) else {
            throw AccessTokenError(.request, explanation: "the token is empty, too long or has other characters than a token")
        }
        return (scheme, Secret(token.utf8))
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"),
            UInt8(ascii: "="):
            true
        default: false
        }
    }
}
