#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The values that determine a one-time code: the secret, the hash function, the length, the encoding and the moving factor.
public struct OATHSettings: Sendable, Hashable {
    /// The shared key.
    public var secret: Secret
    /// The hash function of the HMAC.
    public var algorithm: OTPAlgorithm
    /// The number of digits of a code.
    public var digits: OTPDigits
    /// The way in which a code is written.
    public var encoding = OTPEncoding.decimal
    /// The moving factor: time or counter.
    public var factor: MovingFactor

    /// Creates settings.
    ///
    /// The defaults are SHA-1, six digits and a period of 30 seconds.
    public init(
        secret: Secret, algorithm: OTPAlgorithm = .sha1, digits: OTPDigits = .six,
        factor: MovingFactor = .time(period: .thirtySeconds)
    ) {
        self.secret = secret
        self.algorithm = algorithm
        self.digits = digits
        self.factor = factor
    }

    /// Returns the settings of an account of Steam.
    /// - Parameter secret: The shared key.
    /// - Returns: Settings with SHA-1, a period of 30 seconds and codes of five letters and digits.
    public static func steam(secret: Secret) -> OATHSettings {
        var settings = OATHSettings(secret: secret, digits: .five)
        settings.encoding = .steam
        return settings
    }

    /// Returns the code at `date`.
    ///
    /// For HOTP it is the code of the next counter, which the caller must have reserved; see ``reserveCounter()``.
    public func code(at date: Date) -> OneTimeCode {
        switch factor {
        case .time(let period):
            let step = TOTP.step(at: date, period: period)
            let length = Double(period.seconds)
            let start = Date(timeIntervalSince1970: Double(step) * length)
            return OneTimeCode(
                digits: text(of: step), basis: .time(start: start, end: start.addingTimeInterval(length)))
        case .counter(let next):
            return OneTimeCode(digits: text(of: next), basis: .counter(next))
        }
    }

    /// Returns the code of a step or a counter.
    func text(of counter: UInt64) -> String {
        encoding.text(of: HOTP.binary(secret: secret, counter: counter, algorithm: algorithm), digits: digits)
    }

    /// Reserves the next HOTP counter.
    ///
    /// Returns settings with the reserved counter, and increments the counter of these settings by one. The caller must save
    /// these settings durably before it shows the reserved code, so that no counter is used twice.
    ///
    /// Returns nil for TOTP, and for the maximum HOTP counter.
    public mutating func reserveCounter() -> OATHSettings? {
        guard case .counter(let next) = factor, next < .max else { return nil }
        defer { factor = .counter(next: next + 1) }
        return self
    }

    /// Returns true for the settings that programs without Steam's codes write for an account of Steam: TOTP codes of five digits.
    ///
    /// Steam's codes are letters and digits, so these settings would generate wrong codes; ``asSteam`` has the right ones.
    package func isSteam(of issuer: String) -> Bool {
        guard case .time = factor else { return false }
        return digits == .five && issuer.lowercased() == "steam"
    }

    /// The settings of Steam with this secret; nil when the hash function or the moving factor is not that of Steam.
    ///
    /// The number of digits is ignored: programs write different numbers for Steam's codes, which always have five characters.
    package var asSteam: OATHSettings? {
        guard algorithm == .sha1, factor == .time(period: .thirtySeconds) else { return nil }
        return .steam(secret: secret)
    }
}
