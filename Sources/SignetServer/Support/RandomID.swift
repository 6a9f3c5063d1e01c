import SignetCore
import SignetStorage

extension RandomID {
    /// Returns 256 random bits as text that is safe in headers and URLs.
    static func token() -> String { Base64.encode(bytes(32), as: .url) }

    /// Returns unpredictable bytes.
    static func bytes(_ count: Int) -> [UInt8] { RandomBytes.next(count) }
}
