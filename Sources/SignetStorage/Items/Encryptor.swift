public import Foundation

/// Seals the bytes of an item before a storage keeps them, and opens them again.
public protocol Encryptor: Sendable {
    /// Seals `data`.
    func encrypt(data: Data) async throws -> Data
    /// Opens what ``encrypt(data:)`` sealed.
    /// - Throws: An error when `data` does not open. An encryptor never returns other bytes instead.
    func decrypt(data: Data) async throws -> Data
}

/// An encryptor that returns the bytes unchanged, for items that the underlying storage protects or that are not secret.
public struct NoEncryptor: Encryptor {
    /// Creates an encryptor that seals nothing.
    public init() {}

    /// Returns `data` unchanged.
    public func encrypt(data: Data) async throws -> Data { data }

    /// Returns `data` unchanged.
    public func decrypt(data: Data) async throws -> Data { data }
}
