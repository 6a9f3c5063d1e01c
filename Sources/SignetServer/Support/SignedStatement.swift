import Foundation
import SignetCore

/// A JWS that a device signed with its own key (protocol/journey.md section 2.8).
///
/// Its contents are unverified until ``isSigned(with:)`` returns true.
struct SignedStatement: Sendable {
    let header: [String: JSONValue]
    let claims: [String: JSONValue]
    private let input: [UInt8]
    private let signature: [UInt8]

    /// Nil when the text isn't a compact JWS with two JSON objects, or has a critical header parameter (`crit`).
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]), header["crit"] == nil,
            let signature = try? Base64.decode(parts[2])
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        input = Array("\(parts[0]).\(parts[1])".utf8)
    }

    private static func object(_ part: Substring) -> [String: JSONValue]? {
        guard let bytes = try? Base64.decode(part) else { return nil }
        return (try? JSON.value(of: bytes))?.object
    }

    func isSigned(with key: DevicePublicKey) -> Bool {
        header["alg"]?.string == key.algorithm && key.accepts(signature, of: input)
    }

    /// Returns true when one of the applications issued the statement, or when the list is empty.
    func isIssued(by applications: [String]) -> Bool {
        applications.isEmpty || claims["iss"]?.string.map(applications.contains) == true
    }

    /// The accepted clock difference, in seconds.
    static let tolerance = 60.0

    /// Returns true when the statement is for this challenge and this user, and is valid at this time.
    func answers(_ challenge: [UInt8], userID: String, at now: Date) -> Bool {
        guard claims["sub"]?.string == userID, let text = claims["challenge"]?.string, let answered = try? Base64.decode(text),
            ConstantTime.areEqual(answered, challenge), let end = claims["exp"]?.wholeNumber
        else { return false }
        let seconds = now.timeIntervalSince1970
        let begin = claims["nbf"]?.wholeNumber ?? claims["iat"]?.wholeNumber ?? 0
        return seconds < Double(end) + Self.tolerance && Double(begin) - Self.tolerance <= seconds
    }
}
