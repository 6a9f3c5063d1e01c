import Foundation
public import SignetCore
import SignetStorage

/// A value that a row can contain.
///
/// Later versions must be able to read it. Adding an optional property or removing a property is safe; any other change needs a
/// new ``RowCoder/Version``. Tests/SignetServerTests/Fixtures contains rows of each kind in the format of each version.
typealias RowValue = Codable & Sendable

/// Encodes and decodes the values of rows.
///
/// A row is JSON in a compact form (``RowPacking``) that is sealed with AES-256-GCM under the server's key and bound to
/// the name of the row. A party with access to the database can therefore neither read nor change a row, nor move it to another
/// name.
struct RowCoder: Sendable {
    /// The versions of the row format, stored in the first byte.
    ///
    /// Rows are written in the newest version, and all versions can be read permanently.
    enum Version: UInt8, CaseIterable {
        /// The JSON as it is.
        case one = 1
        /// The JSON in its compact form (``RowPacking``).
        case two = 2

        static let newest = two
    }

    private let key: Secret
    private let encoder: JSONTextEncoder
    private let decoder = JSONDecoder()

    init(_ key: Secret) {
        self.key = key
        let userInfo: [CodingUserInfoKey: any Sendable] = CodingUserInfoKey.secrets.map { [$0: true] } ?? [:]
        encoder = JSONTextEncoder(userInfo: userInfo)
        decoder.userInfo = userInfo
    }

    func bytes(of value: some RowValue, for key: RowKey) throws(StoreError) -> [UInt8] {
        guard let plain = try? encoder.encode(value) else {
            throw StoreError(.invalid, "write a row of kind \(key.kind)", "the value has no form in JSON")
        }
        return try sealed(plain, key)
    }

    /// Decodes the value of a row.
    /// - Throws: ``StoreError/Code/newerFormat`` for an unknown version, ``StoreError/Code/keyMismatch`` when the row was sealed
    ///   with another key or changed, ``StoreError/Code/corrupt`` when the value does not have the type.
    func value<Value: RowValue>(_ type: Value.Type, of bytes: [UInt8], for key: RowKey) throws(StoreError) -> Value {
        do {
            return try decoder.decode(type, from: Data(try plain(bytes, key)))
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(
                .corrupt, "read a row of kind \(key.kind)",
                "its content does not have the format of this version; it was not changed")
        }
    }

    /// Decrypts a row and returns its JSON in the newest version, without decoding the value.
    func plain(_ bytes: [UInt8], _ key: RowKey) throws(StoreError) -> [UInt8] {
        let operation = "read a row of kind \(key.kind)"
        guard let first = bytes.first, first > 0 else {
            throw StoreError(.corrupt, operation, "it does not begin with a version; it was left as it is")
        }
        guard let version = Version(rawValue: first) else {
            throw StoreError(.newerFormat, operation, "a later version of signet wrote it; it was left as it is")
        }
        guard let plain = Sealing.open(bytes.dropFirst(), with: self.key, context: Self.context(key)) else {
            throw StoreError(.keyMismatch, operation, "it was sealed with another key or is damaged; it was not changed")
        }
        switch version {
        // When a version is added, this is the place to migrate the JSON of earlier versions, by the kind of the row.
        case .one: return plain
        case .two:
            guard let json = RowPacking.unpack(plain) else {
                throw StoreError(.corrupt, operation, "its compact form is not one of this version; it was not changed")
            }
            return json
        }
    }

    /// Seals JSON of the newest version, as returned by ``plain(_:_:)``.
    func sealed(_ plain: [UInt8], _ key: RowKey) throws(StoreError) -> [UInt8] {
        try Sealing.seal(RowPacking.pack(plain), with: self.key, context: Self.context(key), behind: [Version.newest.rawValue])
    }

    /// Returns the authenticated context of a row.
    ///
    /// The NUL separator is unambiguous because kinds do not contain it.
    private static func context(_ key: RowKey) -> [UInt8] {
        var context: [UInt8] = []
        context.reserveCapacity(key.kind.utf8.count + 1 + key.name.utf8.count)
        context += key.kind.utf8
        context.append(0)
        context += key.name.utf8
        return context
    }
}

extension CodingUserInfoKey {
    /// The key that marks an encoder or decoder of sealed rows.
    fileprivate static let secrets = CodingUserInfoKey(rawValue: "signet.secrets")
}

/// A secret can only be encoded into a row, which is sealed. All other encoders and decoders throw an error.
extension Secret: Codable {
    /// Decodes a secret from a row.
    /// - Throws: `DecodingError` when the decoder does not read a row.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let secrets = CodingUserInfoKey.secrets, decoder.userInfo[secrets] != nil else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "secrets are read from rows only")
        }
        let text = try container.decode(String.self)
        guard let bytes = try? Base64.decode(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no Base64")
        }
        self.init(bytes)
    }

    /// Encodes a secret into a row.
    /// - Throws: `EncodingError` when the encoder does not write a row.
    public func encode(to encoder: any Encoder) throws {
        guard let secrets = CodingUserInfoKey.secrets, encoder.userInfo[secrets] != nil else {
            let context = EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "secrets go into rows only")
            throw EncodingError.invalidValue(self, context)
        }
        var container = encoder.singleValueContainer()
        try container.encode(Base64.encode(bytes, as: .url))
    }
}

extension Date {
    /// The time in microseconds since 1970, as stored in rows.
    var rowTime: Int64 { Int64(min(max((timeIntervalSince1970 * 1_000_000).rounded(), -9e18), 9e18)) }
}
