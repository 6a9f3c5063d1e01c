import SignetCore
import SignetNetwork
import SignetOAuth
import TestSupport
import Testing

/// A provider with one deviation, and what the client does about it.
struct ProviderCase: Sendable, CustomTestStringConvertible {
    /// The outcome of the operation that meets the deviation.
    enum Expectation: Sendable {
        case accepted
        /// The ID token is refused, for this reason.
        case idToken(IDTokenError.Code)
        /// The operation fails with this code, and the description of the error contains the word.
        case failed(TokenError.Code, String)
    }

    /// The deviation in words, or the name of a module.
    let name: String
    let expectation: Expectation
    let deviation: RelyingParty.Deviation

    var testDescription: String { name }

    init(
        _ name: String, _ expectation: Expectation, _ apply: @escaping @Sendable (inout ScriptedProvider.Behavior) -> Void
    ) {
        (self.name, self.expectation, deviation) = (name, expectation, RelyingParty.Deviation(apply))
    }

    /// The ID token has another value of a claim, or none.
    static func claim(_ claim: String, _ value: JSONValue?, _ expectation: Expectation, _ name: String) -> ProviderCase {
        ProviderCase(name, expectation) { $0.claims = { $0[claim] = value } }
    }

    /// The ID token has another value of a claim, counted in seconds from now.
    static func time(_ claim: String, _ seconds: Int64, _ expectation: Expectation, _ name: String) -> ProviderCase {
        ProviderCase(name, expectation) {
            $0.claims = { claims in
                guard case .integer(let now)? = claims["iat"] else { return }
                claims[claim] = .integer(now + seconds)
            }
        }
    }

    /// The header of the ID token has another member.
    static func header(_ member: String, _ value: JSONValue?, _ expectation: Expectation, _ name: String) -> ProviderCase {
        ProviderCase(name, expectation) { $0.header = { $0[member] = value } }
    }

    /// The token response has another member.
    static func response(_ member: String, _ value: JSONValue?, _ expectation: Expectation, _ name: String) -> ProviderCase {
        ProviderCase(name, expectation) { $0.tokens = { $0[member] = value } }
    }

    /// The token response is this one.
    static func tokens(_ response: HTTPResponse, _ expectation: Expectation, _ name: String) -> ProviderCase {
        ProviderCase(name, expectation) { $0.responses["token"] = response }
    }

    /// The userinfo response has another member.
    static func userInfo(_ member: String, _ value: JSONValue?, _ expectation: Expectation, _ name: String) -> ProviderCase {
        ProviderCase(name, expectation) { $0.userInfo = { $0[member] = value } }
    }

    /// The userinfo response is a JWT with another claim.
    static func signedUserInfo(
        _ member: String, _ value: JSONValue?, _ expectation: Expectation, _ name: String
    ) -> ProviderCase {
        ProviderCase(name, expectation) {
            $0.signsUserInfo = true
            $0.userInfo = { $0[member] = value }
        }
    }

    /// The userinfo response is this one.
    static func userInfo(_ response: HTTPResponse, _ expectation: Expectation, _ name: String) -> ProviderCase {
        ProviderCase(name, expectation) { $0.responses["userinfo"] = response }
    }

    /// The discovery document has another member.
    static func metadata(_ member: String, _ value: JSONValue?, _ expectation: Expectation, _ name: String) -> ProviderCase {
        ProviderCase(name, expectation) { $0.metadata = { $0[member] = value } }
    }

    /// The discovery document is this response.
    static func metadata(_ response: HTTPResponse, _ expectation: Expectation, _ name: String) -> ProviderCase {
        ProviderCase(name, expectation) { $0.responses[".well-known/openid-configuration"] = response }
    }

    /// The published key has another member.
    static func key(_ member: String, _ value: JSONValue, _ expectation: Expectation, _ name: String) -> ProviderCase {
        ProviderCase(name, expectation) { $0.keys = [PublishedKey(ProviderKey.shared[0], "k1", [member: value])] }
    }

    /// The answer of the authorization endpoint has more fields, at its end.
    static func adding(_ field: String, _ value: String, _ expectation: Expectation, _ name: String) -> ProviderCase {
        ProviderCase(name, expectation) { $0.answer = { $0.append((name: field, value: value)) } }
    }

    /// The answer of the authorization endpoint has another value of a field, or none.
    static func answer(_ field: String, _ value: String?, _ expectation: Expectation, _ name: String) -> ProviderCase {
        ProviderCase(name, expectation) {
            $0.answer = { fields in
                fields.removeAll { $0.name == field }
                if let value { fields.append((name: field, value: value)) }
            }
        }
    }

    /// Checks the error of an operation.
    func check(_ result: Result<some Sendable, any Error>) {
        let error = result.tokenError
        switch expectation {
        case .accepted: #expect(result.error == nil, "\(String(describing: result.error))")
        case .idToken(let code):
            #expect(error?.code == .idTokenRefused && error?.idTokenError == code, "\(String(describing: result.error))")
        case .failed(let code, let word):
            #expect(error?.code == code, "\(String(describing: result.error))")
            #expect(error?.description.contains(word) == true, "\(String(describing: result.error))")
        }
    }
}
