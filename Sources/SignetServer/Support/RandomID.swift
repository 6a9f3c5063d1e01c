import SignetCore

/// What else nobody can guess, from the system's random numbers.
extension RandomID {
    /// 256 random bits as text that is safe in headers and URLs.
    static func token() -> String {
        Base64.encode(bytes(32), as: .url)
    }

    static func bytes(_ count: Int) -> [UInt8] {
        Secret.random(byteCount: count).bytes
    }
}
