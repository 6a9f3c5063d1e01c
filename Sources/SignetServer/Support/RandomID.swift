import SignetCore

/// Unpredictable values from the system's random number generator.
extension RandomID {
    /// Returns 256 random bits as text that is safe in headers and URLs.
    static func token() -> String {
        Base64.encode(bytes(32), as: .url)
    }

    static func bytes(_ count: Int) -> [UInt8] {
        Secret.random(byteCount: count).bytes
    }
}
