import Foundation
import SignetCore

/// A one-time password that a journey has generated and that the user is to type.
struct OneTimePassword: Codable, Sendable, Hashable {
    let password: Secret
    let generatedAt: Date

    /// Generates a password of random digits.
    /// - Parameters:
    ///   - length: The number of digits.
    ///   - now: The time.
    init(length: Int, at now: Date) {
        var digits: [UInt8] = []
        while digits.count < length {
            // Bytes from 250 are left out, because they would make some digits more likely than others.
            digits += RandomID.bytes(length).filter { $0 < 250 }.map { UInt8(ascii: "0") + $0 % 10 }
        }
        password = Secret(digits.prefix(length))
        generatedAt = now
    }

    /// Returns true for the password, if it was generated at most this number of minutes ago.
    func accepts(_ text: String, within minutes: Int, at now: Date) -> Bool {
        let isRight = password.withUnsafeBytes { bytes in Array(text.utf8).withUnsafeBytes { ConstantTime.areEqual(bytes, $0) } }
        return isRight && now <= generatedAt.addingTimeInterval(Double(minutes) * 60)
    }
}
