package import Crypto

/// Bytes that must not be seen: a shared secret, a data key, a password.
///
/// A `Secret` cannot be printed, dumped or reflected: every textual form of it is a placeholder. Two secrets are compared
/// in constant time, and the memory is zeroed when the last copy goes.
public struct Secret: Sendable, Hashable {
    package let key: SymmetricKey

    /// Takes a copy of `bytes`; the caller's own copy stays the caller's to forget.
    public init(_ bytes: some Sequence<UInt8>) {
        key = SymmetricKey(data: Array(bytes))
    }

    /// The same for an array, without making one of it first.
    package init(_ bytes: [UInt8]) {
        key = SymmetricKey(data: bytes)
    }

    package init(key: SymmetricKey) {
        self.key = key
    }

    /// A new secret of `byteCount` bytes. Pass a `SystemRandomNumberGenerator` outside of tests.
    public init(byteCount: Int, using generator: inout some RandomNumberGenerator) {
        self.init((0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    /// Feeds only the length: a hash must not say anything of the content.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
    }

    /// A new secret of `byteCount` bytes from the system's random source.
    package static func random(byteCount: Int) -> Secret {
        // The system is asked for eight bytes at a time, and not for each.
        Secret(key: SymmetricKey(size: SymmetricKeySize(bitCount: byteCount * 8)))
    }

    /// The number of bytes.
    public var count: Int { key.bitCount / 8 }

    /// Lends the bytes to `body`. They must not outlive the call.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try key.withUnsafeBytes(body)
    }

    /// A copy of the bytes, for an encoder inside the package that is about to seal them.
    package var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A placeholder with the length; never the content.
    public var description: String { "<secret of \(count) bytes>" }
    /// The same placeholder as ``description``.
    public var debugDescription: String { description }
    /// Nothing: `dump` shows no child.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
