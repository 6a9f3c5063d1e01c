public import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A one-time code to show, under the ForgeRock authenticator's names.
public struct OathTokenCode: Sendable, Hashable {
    /// `totp` or `hotp`.
    public let tokenType: String
    /// The digits.
    public let code: String
    /// When the code became valid, in seconds since 1970; for HOTP, when it was made.
    public let start: TimeInterval
    /// When it ceases to be valid, in seconds since 1970; nil for HOTP.
    public let until: TimeInterval?

    /// The old names for a code that was made at `date`.
    public init(_ code: OneTimeCode, madeAt date: Date) {
        self.code = code.digits
        switch code.basis {
        case .time(let start, let end):
            tokenType = "totp"
            self.start = start.timeIntervalSince1970
            until = end.timeIntervalSince1970
        case .counter:
            tokenType = "hotp"
            start = date.timeIntervalSince1970
            until = nil
        }
    }

    /// Whether the code is good now.
    public var isValid: Bool { isValid(at: SystemWallClock().now) }
    /// How much of the code's time has gone, from 0 to 1; 0 for HOTP.
    public var progress: Float { progress(at: SystemWallClock().now) }

    /// Whether the code is good at `date`; unlike in the original, from its first instant on.
    public func isValid(at date: Date) -> Bool {
        guard let until else { return true }
        return (start..<until).contains(date.timeIntervalSince1970)
    }

    /// How much of the code's time has gone at `date`, from 0 to 1; 0 for HOTP.
    public func progress(at date: Date) -> Float {
        guard let until else { return 0 }
        return Float(min(1, max(0, (date.timeIntervalSince1970 - start) / (until - start))))
    }

    /// The code as JSON text: `tokenType`, `code`, `start`, `until`.
    public func toJson() -> String? {
        var members: [String: JSONValue] = ["tokenType": .string(tokenType), "code": .string(code)]
        members["start"] = .number(start)
        members["until"] = until.map { JSONValue.number($0) } ?? .null
        return LegacyJSON.text(of: members)
    }
}
