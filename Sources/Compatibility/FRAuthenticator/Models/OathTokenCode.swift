public import Foundation
public import SignetCore

/// A one-time code to show, with the names of the ForgeRock SDK.
public struct OathTokenCode: Sendable, Hashable {
    /// `totp` or `hotp`.
    public let tokenType: String
    /// The digits.
    public let code: String
    /// The time at which the code became valid, in seconds since 1970; for HOTP, the time at which it was generated.
    public let start: TimeInterval
    /// The time at which the code stops being valid, in seconds since 1970; nil for HOTP.
    public let until: TimeInterval?

    /// Creates the object for a code that was generated at `date`.
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

    /// True when the code is valid now.
    public var isValid: Bool { isValid(at: SystemWallClock().now) }
    /// The elapsed part of the code's period, from 0 to 1; 0 for HOTP.
    public var progress: Float { progress(at: SystemWallClock().now) }

    /// Returns true when the code is valid at `date`.
    ///
    /// Unlike in the ForgeRock SDK, the first instant of the period counts as valid.
    public func isValid(at date: Date) -> Bool {
        guard let until else { return true }
        return (start..<until).contains(date.timeIntervalSince1970)
    }

    /// Returns the elapsed part of the code's period at `date`, from 0 to 1; 0 for HOTP.
    public func progress(at date: Date) -> Float {
        guard let until else { return 0 }
        return Float(min(1, max(0, (date.timeIntervalSince1970 - start) / (until - start))))
    }

    /// Returns the code as JSON text with `tokenType`, `code`, `start` and `until`.
    public func toJson() -> String? {
        var members: [String: JSONValue] = ["tokenType": .string(tokenType), "code": .string(code)]
        members["start"] = .number(start)
        members["until"] = until.map { JSONValue.number($0) } ?? .null
        return LegacyJSON.text(of: members)
    }
}
