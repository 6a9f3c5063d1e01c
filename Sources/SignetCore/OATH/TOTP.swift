#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Time-based one-time passwords (RFC 6238), with T0 = 0.
public enum TOTP {
    /// Returns the number of whole periods since 1970.
    ///
    /// A date before 1970 gives step 0.
    public static func step(at date: Date, period: OTPPeriod) -> UInt64 {
        UInt64(max(0, (date.timeIntervalSince1970 / Double(period.seconds)).rounded(.down)))
    }

    /// Returns the code that is valid at `date`.
    public static func code(
        secret: Secret, at date: Date, period: OTPPeriod = .thirtySeconds, digits: OTPDigits = .six,
        algorithm: OTPAlgorithm = .sha1
    ) -> String {
        HOTP.code(secret: secret, counter: step(at: date, period: period), digits: digits, algorithm: algorithm)
    }
}
