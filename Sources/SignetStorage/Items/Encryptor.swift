#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Seals the bytes of an item before a storage keeps them, and opens them again.
public protocol Encryptor: Sendable {
    /// Seals `data`.
    func encrypt(data: Data) async throws -> Data
    /// Opens what ``encrypt(data:)`` sealed.
    /// - Throws: when it does not open. An encryptor never answers with something else.
    func decrypt(data: Data) async throws -> Data
}

/// Leaves the bytes as they are: for items that the storage beneath protects, or that are no secret.
public struct NoEncryptor: Encryptor {
    /// An encryptor that seals nothing.
    public init() {}

    /// The same bytes.
    public func encrypt(data: Data) async throws -> Data { data }

    /// The same bytes.
    public func decrypt(data: Data) async throws -> Data { data }
}
