import Foundation
import SignetCore
import SignetStorage

/// An opened key to which tokens are bound (RFC 9449).
struct DPoPKey: Sendable {
    let key: any SigningKey
    /// The thumbprint of the key (`jkt`).
    let thumbprint: String
    private let jwk: JSONWebKey

    /// Wraps an opened key.
    /// - Throws: `StoreError` for a key whose public half is not valid.
    init(_ key: any SigningKey) throws(StoreError) {
        let point = key.publicKey
        do throws(JSONWebKeyError) {
            jwk = try JSONWebKey(.p256(x: point.x, y: point.y))
        } catch {
            throw StoreError(.corrupt, "use the key of the tokens", error.description)
        }
        self.key = key
        thumbprint = jwk.thumbprint
    }

    /// The key in the form that is stored with the tokens.
    /// - Parameter nonces: The nonces of the servers, by origin.
    /// - Returns: The binding.
    func binding(nonces: [String: String]) -> TokenBinding { TokenBinding(key: key.reference, nonces: nonces) }

    /// Returns a new proof of possession for a request (RFC 9449 section 4.2).
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - url: The address of the request.
    ///   - token: The access token in the request; nil for a request without one.
    ///   - nonce: The last nonce of the server; nil when it sent none.
    ///   - now: The time by the server's clock.
    /// - Returns: The proof.
    /// - Throws: ``LostKey`` when the hardware doesn't know the key any more; `StoreError`; `OAuthError` for an address that isn't one
    ///   of the web.
    func proof(_ method: String, _ url: String, presenting token: Secret?, nonce: String?, at now: Date) async throws -> String {
        guard let request = DPoPRequest(method: method, url: url, accessToken: token) else {
            throw OAuthError(.notConfigured, explanation: "a proof of possession needs an absolute web address")
        }
        let id = Base64.encode(Secret.random(byteCount: 16).bytes, as: .url)
        let unsigned = DPoPProof.unsigned(for: request, key: jwk, algorithm: .es256, at: now, id: id, nonce: nonce)
        do throws(StoreError) {
            return unsigned.signed(with: try await key.signature(of: unsigned.bytes))
        } catch {
            throw LostKey.error(for: error)
        }
    }
}

/// The error for tokens whose key can never be used again.
///
/// Nothing was removed. The tokens are of no use, so the user must log in again, or a session provides other tokens.
struct LostKey: Error, CustomStringConvertible {
    /// The reason, without secrets.
    let description: String

    /// Returns the error to throw for a failure of a key: this one when the failure is final.
    static func error(for failure: StoreError) -> any Error {
        guard failure.code == .keyMismatch || failure.code == .corrupt else { return failure }
        return LostKey(description: "the key to which the tokens are bound is lost: \(failure.description)")
    }

    /// The error for a bound token that is stored without its key.
    static let missing = LostKey(description: "the tokens are bound to a key that is not stored with them")
}
