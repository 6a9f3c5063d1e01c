import SignetCore

/// An account for one-time codes, as every measured program stores it.
struct SampleAccount {
    /// The name, which is unique.
    let name: String
    /// The secret in Base32.
    let secret: String

    /// The account of a vault with only one.
    static let only = SampleAccount(name: "mira", secret: Sample.codeSecret)

    /// Returns accounts with different names and secrets.
    static func several(_ count: Int) -> [SampleAccount] {
        (0..<count).map { number in
            let bytes = withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) } + [UInt8](repeating: 0x5A, count: 12)
            return SampleAccount(name: "user\(number)", secret: Base32.encode(bytes))
        }
    }

    /// The URI that enrolls the account.
    var uri: String { "otpauth://totp/Harbor%20Bank:\(name)?secret=\(secret)&issuer=Harbor%20Bank" }
}
