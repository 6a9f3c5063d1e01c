import Foundation
import SignetCore

/// A code and its validity at one point in time (protocol/authenticator.md section 2.4).
///
/// To show the progress of time, create another value.
public struct OathCodeInfo: Sendable, Hashable, Codable {
    /// The digits.
    public let code: String
    /// The remaining whole seconds; -1 for an HOTP code.
    public let timeRemaining: Int
    /// The counter of the next code; -1 for a TOTP code.
    public let counter: Int
    /// The elapsed part of the period, from 0 to 1 while the remaining time is within the period; 0 for an HOTP code.
    public let progress: Double
    /// The period in seconds; 0 for an HOTP code.
    public let totalPeriod: Int

    /// Returns the information for a TOTP code.
    public static func forTotp(code: String, timeRemaining: Int, totalPeriod: Int) -> OathCodeInfo {
        let progress = totalPeriod > 0 ? 1 - Double(timeRemaining) / Double(totalPeriod) : 0
        return OathCodeInfo(
            code: code, timeRemaining: timeRemaining, counter: -1, progress: progress, totalPeriod: totalPeriod)
    }

    /// Returns the information for an HOTP code.
    /// - Parameters:
    ///   - code: The code.
    ///   - counter: The counter of the next code.
    /// - Returns: A value with -1 as the remaining time, and 0 as the progress and the period, because the code does not expire.
    public static func forHotp(code: String, counter: Int) -> OathCodeInfo {
        OathCodeInfo(code: code, timeRemaining: -1, counter: counter, progress: 0, totalPeriod: 0)
    }

    /// Returns the JSON that ``fromJson(_:)`` reads.
    public func toJson() throws -> String { String(decoding: try JSON.encode(self), as: UTF8.self) }

    /// Decodes the JSON that ``toJson()`` returns.
    /// - Throws: `DecodingError`.
    public static func fromJson(_ json: String) throws -> OathCodeInfo {
        do {
            return try JSON.decode(OathCodeInfo.self, from: json.utf8)
        } catch let error as JSONSyntaxError {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "not a JSON text", underlyingError: error))
        }
    }

    init(_ code: OneTimeCode, at date: Date) {
        switch code.basis {
        case .time(let start, let end):
            self = .forTotp(
                code: code.digits, timeRemaining: code.secondsLeft(at: date) ?? 0,
                totalPeriod: Int(end.timeIntervalSince(start).rounded()))
        case .counter(let counter):
            self = .forHotp(code: code.digits, counter: Int(clamping: counter &+ 1))
        }
    }

    private init(code: String, timeRemaining: Int, counter: Int, progress: Double, totalPeriod: Int) {
        self.code = code
        self.timeRemaining = timeRemaining
        self.counter = counter
        self.progress = progress
        self.totalPeriod = totalPeriod
    }
}
