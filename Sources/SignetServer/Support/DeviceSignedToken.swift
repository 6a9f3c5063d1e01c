import Foundation
import SignetCore

/// A JWS that a device signed with its own key (protocol/journey.md section 2.8).
///
/// Its contents are unverified until ``isSigned(with:)`` returns true.
struct DeviceSignedToken: Sendable {
    private let token: SignedToken

    var header: [String: JSONValue] { token.header }
    var claims: [String: JSONValue] { token.claims }

    /// Nil when the text isn't a compact JWS with two JSON objects, or has a critical header parameter (`crit`).
    init?(_ text: String) {
        guard let token = SignedToken(text), token.header["crit"] == nil else { return nil }
        self.token = token
    }

    func isSigned(with key: DevicePublicKey) -> Bool {
        token.algorithm == key.algorithm && token.isSigned { key.accepts($0, of: $1) }
    }

    /// Returns true when one of the applications issued the token, or when the list is empty.
    func isIssued(by applications: [String]) -> Bool {
        applications.isEmpty || claims["iss"]?.string.map(applications.contains) == true
    }

    /// The accepted clock difference, in seconds.
    static let tolerance = 60.0

    /// Returns true when the token is for this challenge and this user, and is valid at this time.
    func answers(_ challenge: [UInt8], userID: String, at now: Date) -> Bool {
        guard claims["sub"]?.string == userID, let text = claims["challenge"]?.string, let answered = try? Base64.decode(text),
            ConstantTime.areEqual(answered, challenge), let end = claims["exp"]?.lenientInteger
        else { return false }
        let seconds = now.timeIntervalSince1970
        let begin = claims["nbf"]?.lenientInteger ?? claims["iat"]?.lenientInteger ?? 0
        return seconds < Double(end) + Self.tolerance && Double(begin) - Self.tolerance <= seconds
    }
}
