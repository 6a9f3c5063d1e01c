public import Foundation
public import SignetCore

/// A session token of AM, with the ForgeRock SDK's name.
///
/// An archive or an encoded form of it contains the secret: seal it.
public final class Token: NSObject, NSSecureCoding, Codable, Sendable {
    let token: SSOToken

    /// The token, which cannot be printed.
    public var value: Secret { token.value }
    /// The address that the server would send a browser to; empty when the server sent none.
    public var successUrl: String { token.successURL ?? "" }
    /// The realm, with a leading slash; empty when the server sent none.
    public var realm: String { token.realm ?? "" }

    init(_ token: SSOToken) { self.token = token }

    /// Creates a token.
    public convenience init(value: Secret, successUrl: String = "", realm: String = "") {
        self.init(
            SSOToken(
                value: value, successURL: successUrl.isEmpty ? nil : successUrl, realm: realm.isEmpty ? nil : realm))
    }

    /// Returns true for the same token with the same address and realm.
    override public func isEqual(_ object: Any?) -> Bool { (object as? Token)?.token == token }
    /// The hash of the address and the realm.
    override public var hash: Int { [successUrl, realm].hashValue }
    /// The realm and the address, without the token.
    override public var description: String { "Token (realm \(realm), \(successUrl))" }
    /// The value of ``description``.
    override public var debugDescription: String { description }

    // MARK: Archives

    /// True: decoding accepts only this class.
    public static var supportsSecureCoding: Bool { true }

    /// Decodes the token from an archive; nil when it has none.
    public convenience init?(coder: NSCoder) {
        guard let token = Archive.decode(SSOToken.self, in: coder) else { return nil }
        self.init(token)
    }

    /// Encodes the token for an archive, with its secret.
    public func encode(with coder: NSCoder) { Archive.encode(token, in: coder) }

    /// Decodes the token.
    public init(from decoder: any Decoder) throws { token = try SSOToken(from: decoder) }
    /// Encodes the token, with its secret.
    public func encode(to encoder: any Encoder) throws { try token.encode(to: encoder) }
}

extension Token: CustomReflectable {
    /// An empty mirror, so that `dump` shows no token.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
