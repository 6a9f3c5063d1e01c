import Crypto
public import Foundation
import SignetCore

extension Data {
    /// The bytes.
    public var bytesArray: [UInt8] { Array(self) }

    /// The SHA-256 of the bytes.
    public var sha256: Data { Data(SHA256.hash(data: self)) }
}

extension [UInt8] {
    /// Returns the bytes in lower-case hexadecimal digits.
    public func toHexString() -> String {
        Hexadecimal.text(of: self).lowercased()
    }
}
