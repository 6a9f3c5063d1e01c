public import SignetCore
import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a row can hold: a value that later versions still read. To add a member that is optional, or to take one away, is safe; anything
/// else needs a new ``RowCoder/Version``. Tests/SignetServerTests/Fixtures has rows of every kind as each version wrote them.
typealias RowValue = Codable & Sendable

/// Turns values into the bytes of rows and back: JSON, sealed with AES-256-GCM under the server's key and bound to the row's name, so
/// that no row can be read, changed or put in another one's place in the database.
struct RowCoder: Sendable {
    /// The forms that rows have had, by their first byte. They are written in the newest one, and read in every one, for ever.
    enum Version: UInt8, CaseIterable {
        case one = 1

        static let newest = one
    }

    private let key: Secret
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()

    init(_ key: Secret) {
        self.key = key
        if let secrets = CodingUserInfoKey.secrets {
            encoder.userInfo[secrets] = true
            decoder.userInfo[secrets] = true
        }
    }

    func bytes(of value: some RowValue, for key: RowKey) throws(StoreError) -> [UInt8] {
        guard let plain = try? encoder.encode(value) else {
            throw StoreError(.invalid, "write a row of kind \(key.kind)", "the value has no form in JSON")
        }
        return try sealed([UInt8](plain), key)
    }

    /// - Throws: ``StoreError/Code/newerFormat`` for a version that is not known here, ``StoreError/Code/keyMismatch`` when it was sealed
    ///   with another key or is not the row that was written, ``StoreError/Code/corrupt`` when the value is not of the type.
    func value<Value: RowValue>(_ type: Value.Type, of bytes: [UInt8], for key: RowKey) throws(StoreError) -> Value {
        do {
            return try decoder.decode(type, from: Data(try plain(bytes, key)))
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.corrupt, "read a row of kind \(key.kind)", "it is not of this version's form; it was left as it is")
        }
    }

    /// What was sealed, in the newest version's form, whatever it says.
    func plain(_ bytes: [UInt8], _ key: RowKey) throws(StoreError) -> [UInt8] {
        let operation = "read a row of kind \(key.kind)"
        guard let first = bytes.first, first > 0 else {
            throw StoreError(.corrupt, operation, "it does not begin with a version; it was left as it is")
        }
        guard let version = Version(rawValue: first) else {
            throw StoreError(.newerFormat, operation, "a later version of signet wrote it; it was left as it is")
        }
        guard let plain = Sealing.open(bytes.dropFirst(), with: self.key, context: Self.context(key)) else {
            throw StoreError(.keyMismatch, operation, "it was sealed with another key, or changed; it was left as it is")
        }
        switch version {
        // With another version comes here what makes its JSON of this one's, by the row's kind.
        case .one: return plain
        }
    }

    /// Seals a value's newest form, as ``plain(_:_:)`` gives it.
    func sealed(_ plain: [UInt8], _ key: RowKey) throws(StoreError) -> [UInt8] {
        try Sealing.seal(plain, with: self.key, context: Self.context(key), behind: [Version.newest.rawValue])
    }

    /// Kinds have no NUL.
    private static func context(_ key: RowKey) -> [UInt8] { Array(key.kind.utf8) + [0] + Array(key.name.utf8) }
}

extension CodingUserInfoKey {
    /// Says that what is encoded will be sealed.
    fileprivate static let secrets = CodingUserInfoKey(rawValue: "signet.secrets")
}

/// A secret can be written into a row, which is sealed, and nowhere else: every other encoder is refused.
extension Secret: Codable {
    /// - Throws: `DecodingError` unless it is a row that is read.
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

    /// - Throws: `EncodingError` unless it is a row that is written.
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
    /// Microseconds since 1970, as rows have them.
    var rowTime: Int64 { Int64(min(max((timeIntervalSince1970 * 1_000_000).rounded(), -9e18), 9e18)) }
}
