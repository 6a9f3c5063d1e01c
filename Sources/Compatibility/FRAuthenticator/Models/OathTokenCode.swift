public import Foundation
public import SignetCore

/// A one-time code to show, with the names of the ForgeRock SDK.
///
/// Two codes are equal when all their values are.
public final class OathTokenCode: NSObject, Codable, Sendable {
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
        super.init()
    }

    private init(_ tokenType: String, _ code: String, _ start: TimeInterval, _ until: TimeInterval?) {
        (self.tokenType, self.code, self.start, self.until) = (tokenType, code, start, until)
        super.init()
    }

    /// Returns true when another object is a code with the same values.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? OathTokenCode else { return false }
        return (tokenType, code, start) == (other.tokenType, other.code, other.start) && until == other.until
    }

    /// The hash of the code.
    public override var hash: Int { code.hashValue ^ start.hashValue }

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

    private var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["tokenType": .string(tokenType), "code": .string(code)]
        members["start"] = .number(start)
        members["until"] = until.map { JSONValue.number($0) } ?? .null
        return members
    }

    /// Returns the code as JSON text with `tokenType`, `code`, `start` and `until`.
    public func toJson() -> String? { LegacyJSON.text(of: members) }

    /// Writes the members of ``toJson()``.
    public func encode(to encoder: any Encoder) throws { try JSONValue.object(members).encode(to: encoder) }

    /// Reads the members of ``toJson()``.
    /// - Throws: `DecodingError`.
    public convenience init(from decoder: any Decoder) throws {
        let read = try LegacyJSON.read("one-time code", from: decoder) { members in
            (
                try members.text("tokenType"), try members.text("code"), try members.number("start"),
                try members.optionalNumber("until")
            )
        }
        self.init(read.0, read.1, read.2, read.3)
    }
}
