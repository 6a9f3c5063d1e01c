public import Foundation

/// The errors of the Ping SDK's keychain.
///
/// The storages of this package throw `StoreError` instead, which says whether an item is absent, locked or damaged. The type
/// exists for the storages and the `catch` clauses of apps.
public enum KeychainError: LocalizedError, Sendable, Hashable, CaseIterable {
    /// An item was not saved.
    case unableToSave
    /// An item was not read.
    case unableToRetrieve
    /// An item was not removed.
    case unableToDelete

    /// A description of the error for people.
    public var errorMessage: String {
        switch self {
        case .unableToSave: "The item was not saved."
        case .unableToRetrieve: "The item could not be read."
        case .unableToDelete: "The item was not removed."
        }
    }

    /// The value of ``errorMessage``.
    public var errorDescription: String? { errorMessage }
}

/// The errors of the Ping SDK's encryptors.
///
/// The encryptors of this package throw `StoreError` instead. The type exists for the encryptors and the `catch` clauses of apps.
public enum EncryptorError: LocalizedError, Sendable, Hashable, CaseIterable {
    /// The data were not sealed.
    case failedToEncrypt
    /// The data did not open.
    case failedToDecrypt

    /// A description of the error for people.
    public var errorMessage: String {
        switch self {
        case .failedToEncrypt: "The data could not be encrypted."
        case .failedToDecrypt: "The data could not be decrypted."
        }
    }

    /// The value of ``errorMessage``.
    public var errorDescription: String? { errorMessage }
}
