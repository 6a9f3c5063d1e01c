package import Crypto

/// Sensitive bytes: a shared secret, a data key or a password.
///
/// A `Secret` cannot be printed, dumped or reflected: its textual forms are placeholders. Two secrets are compared in constant
/// time, and the memory is zeroed when the last copy is released.
public struct Secret: Sendable, Hashable {
    package let key: SymmetricKey

    /// Creates a secret from a copy of `bytes`.
    ///
    /// Erasing the original bytes is the caller's responsibility.
    public init(_ bytes: some Sequence<UInt8>) {
        key = SymmetricKey(data: Array(bytes))
    }

    /// Creates a secret from a copy of an array, without an intermediate array.
    package init(_ bytes: [UInt8]) {
        key = SymmetricKey(data: bytes)
    }

    /// Creates a secret from a copy of some memory, without an array.
    package init(copying bytes: UnsafeRawBufferPointer) {
        key = SymmetricKey(data: bytes)
    }

    package init(key: SymmetricKey) {
        self.key = key
    }

    /// Creates a random secret of `byteCount` bytes.
    ///
    /// Pass a `SystemRandomNumberGenerator` outside of tests.
    public init(byteCount: Int, using generator: inout some RandomNumberGenerator) {
        self.init((0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    /// Hashes only the length, so that the hash reveals nothing about the content.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
    }

    /// Creates a random secret of `byteCount` bytes from the system's random source.
    package static func random(byteCount: Int) -> Secret {
        // This requests eight bytes at a time from the system instead of one.
        Secret(key: SymmetricKey(size: SymmetricKeySize(bitCount: byteCount * 8)))
    }

    /// The number of bytes.
    public var count: Int { key.bitCount / 8 }

    /// Calls `body` with the bytes.
    ///
    /// They must not outlive the call.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try key.withUnsafeBytes(body)
    }

    /// A copy of the bytes, for an encoder inside the package that seals them.
    package var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A placeholder that contains the length and never the content.
    public var description: String { "<secret of \(count) bytes>" }
    /// The value of ``description``.
    public var debugDescription: String { description }
    /// An empty mirror, so that `dump` shows no content.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
