/// Recovery codes, each of which replaces a lost device once.
///
/// They are shown once and stored as digests.
struct RecoveryCodes: Codable, Sendable, Hashable {
    /// The number of codes, as in AM.
    static let count = 10

    let kind: DeviceKind
    /// The name of the device.
    let deviceName: String
    let codes: [String]
    var wereShown = false

    /// Generates ten codes of ten letters and digits, without characters that look alike.
    static func new(for kind: DeviceKind, _ deviceName: String) -> RecoveryCodes {
        let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789")
        var generator = SystemRandomNumberGenerator()
        let codes = (0..<count).map { _ in
            String((0..<10).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] })
        }
        return RecoveryCodes(kind: kind, deviceName: deviceName, codes: codes)
    }
}
