/// The way in which the number of a one-time code is written.
public enum OTPEncoding: String, Sendable, Hashable, CaseIterable {
    /// Decimal digits with leading zeros (RFC 4226 section 5.3), the default.
    case decimal
    /// Five of the 26 letters and digits that Steam uses.
    ///
    /// Steam publishes no specification. Aegis, KeePassXC and other programs generate the codes in this way: the remainders of
    /// repeated divisions by 26, the first one first, as positions in `23456789BCDFGHJKMNPQRTVWXY`.
    case steam

    private static let steamAlphabet = Array("23456789BCDFGHJKMNPQRTVWXY".utf8)

    /// Returns the text of a code.
    /// - Parameters:
    ///   - binary: The 31-bit number of the code.
    ///   - digits: The number of decimal digits; a code of Steam always has five characters.
    /// - Returns: The characters of the code.
    func text(of binary: UInt32, digits: OTPDigits) -> String {
        switch self {
        case .decimal: Self.decimal(binary, length: digits.count)
        case .steam: Self.steam(binary, length: OTPDigits.five.count)
        }
    }

    private static func decimal(_ binary: UInt32, length: Int) -> String {
        String(unsafeUninitializedCapacity: length) { output in
            var rest = binary
            for position in stride(from: length - 1, through: 0, by: -1) {
                output[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            return length
        }
    }

    private static func steam(_ binary: UInt32, length: Int) -> String {
        let base = UInt32(steamAlphabet.count)
        return String(unsafeUninitializedCapacity: length) { output in
            var rest = binary
            for position in 0..<length {
                output[position] = steamAlphabet[Int(rest % base)]
                rest /= base
            }
            return length
        }
    }
}
