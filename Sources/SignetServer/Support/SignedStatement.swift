import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A JWS that a device signed with a key of its own (protocol/journey.md section 2.8). Nothing in it is to be believed before
/// ``isSigned(with:)`` has said so.
struct SignedStatement: Sendable {
    let header: [String: JSONValue]
    let claims: [String: JSONValue]
    private let input: [UInt8]
    private let signature: [UInt8]

    /// Nil when the text is no compact JWS with two JSON objects, or demands something that nobody here understands.
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

    /// Whether it comes from one of the apps; from any when there are none.
    func isIssued(by applications: [String]) -> Bool {
        applications.isEmpty || claims["iss"]?.string.map(applications.contains) == true
    }

    /// Clocks differ by so many seconds.
    static let tolerance = 60.0

    /// Whether it was made for this challenge and this person, and its time has come and not passed.
    func answers(_ challenge: [UInt8], userID: String, at now: Date) -> Bool {
        guard claims["sub"]?.string == userID, let text = claims["challenge"]?.string, let answered = try? Base64.decode(text),
            ConstantTime.areEqual(answered, challenge), let end = claims["exp"]?.wholeNumber
        else { return false }
        let seconds = now.timeIntervalSince1970
        let begin = claims["nbf"]?.wholeNumber ?? claims["iat"]?.wholeNumber ?? 0
        return seconds < Double(end) + Self.tolerance && Double(begin) - Self.tolerance <= seconds
    }
}
