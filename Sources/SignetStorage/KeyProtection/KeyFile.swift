public import SignetCore

/// A key in a file of mode 0600.
///
/// It protects only copies of the vault that do not include the file. It is therefore never a default: the app or user must
/// choose it explicitly.
public struct KeyFile: KeyProtector {
    /// The name `keyfile`.
    public let name = "keyfile"
    /// The path of the file.
    public let path: String

    private static let keyLength = 32

    /// Creates a key protector with the key in the file at `path`.
    ///
    /// The file is read when the key is needed.
    public init(path: String) {
        self.path = path
    }

    /// Creates the file with a new random key.
    /// - Throws: ``StoreError/Code/exists`` when the path already exists; it is never replaced.
    public static func create(path: String) throws(StoreError) -> KeyFile {
        try PrivateFile.create(path, containing: Secret.random(byteCount: keyLength).bytes)
        return KeyFile(path: path)
    }

    /// Seals `dataKey` with the key in the file.
    public func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
        try Sealing.seal(dataKey.bytes, with: key(), context: context)
    }

    /// Opens what ``wrap(_:context:)`` sealed.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the file does not exist; ``StoreError/Code/keyMismatch`` when it does
    ///   not contain the right key.
    public func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret {
        guard let bytes = try Sealing.open(wrapped, with: key(), context: context) else {
            throw StoreError(.keyMismatch, "open vault", "\(path) does not hold the key this vault was sealed with")
        }
        return Secret(bytes)
    }

    private func key() throws(StoreError) -> Secret {
        guard PrivateFile.exists(path) else {
            throw StoreError(
                .keyUnavailable, "open vault",
                "the key file \(path) is not there; put it back to open the vault, which was not touched")
        }
        let bytes = try PrivateFile.contents(of: path, limit: Self.keyLength)
        guard bytes.count == Self.keyLength else {
            throw StoreError(.keyMismatch, "open vault", "\(path) is not a key file of \(Self.keyLength) bytes")
        }
        return Secret(bytes)
    }
}
