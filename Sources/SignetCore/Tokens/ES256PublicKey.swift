package import Crypto

/// The public half of a P-256 key that signs with ES256 (RFC 7518 section 3.4).
public struct ES256PublicKey: Sendable {
    /// The point of the curve in the uncompressed form of SEC 1 section 2.3.3: 65 bytes that begin with 04.
    public let x963: [UInt8]
    private let key: P256.Signing.PublicKey

    /// Creates a key from a point in the uncompressed form of SEC 1.
    ///
    /// Returns nil for bytes of another form, and for a point that is not on the curve.
    public init?(x963 bytes: some Collection<UInt8>) {
        let point = Array(bytes)
        guard point.count == 65, point[0] == 4, let key = try? P256.Signing.PublicKey(x963Representation: point) else {
            return nil
        }
        x963 = point
        self.key = key
    }

    /// Creates a key from one of the library.
    package init(_ key: P256.Signing.PublicKey) {
        x963 = Array(key.x963Representation)
        self.key = key
    }

    /// Creates a key from the members of a JSON Web Key (RFC 7518 section 6.2.1).
    ///
    /// Returns nil for a key of another kind or curve, for numbers that are not base64url of 32 bytes, and for a point that is not on
    /// the curve.
    public init?(jwk members: [String: JSONValue]) {
        guard members["kty"]?.string == "EC", members["crv"]?.string == "P-256", let x = Self.coordinate(members["x"]),
            let y = Self.coordinate(members["y"])
        else { return nil }
        self.init(x963: [4] + x + y)
    }

    private static func coordinate(_ value: JSONValue?) -> [UInt8]? {
        guard let text = value?.string, let bytes = try? Base64.decodeURL(text), bytes.count == 32 else { return nil }
        return bytes
    }

    /// The x coordinate, 32 bytes.
    public var x: [UInt8] { Array(x963[1..<33]) }
    /// The y coordinate, 32 bytes.
    public var y: [UInt8] { Array(x963[33...]) }
    /// Both coordinates, 64 bytes.
    public var coordinates: [UInt8] { Array(x963[1...]) }

    /// The key as a `SubjectPublicKeyInfo` in DER (RFC 5480 section 2), 91 bytes.
    public var der: [UInt8] { Self.subjectPublicKeyInfo + x963 }

    /// The beginning of each P-256 key in DER: two sequences, the algorithm `id-ecPublicKey`, the curve `prime256v1`, and the head of
    /// the bit string.
    private static let subjectPublicKeyInfo: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D,
        0x03,
        0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    /// The members of the key as a JSON Web Key: `kty`, `crv`, `x` and `y` (RFC 7518 section 6.2.1).
    public var jwk: [String: JSONValue] {
        [
            "kty": .string("EC"), "crv": .string("P-256"), "x": .string(Base64.encode(x, as: .url)),
            "y": .string(Base64.encode(y, as: .url)),
        ]
    }

    /// The SHA-256 thumbprint of the key in base64url (RFC 7638 section 3), which DPoP uses as `jkt` (RFC 9449 section 6).
    public var thumbprint: String {
        let text = """
            {"crv":"P-256","kty":"EC","x":"\(Base64.encode(x, as: .url))","y":"\(Base64.encode(y, as: .url))"}
            """
        return Base64.encode(Array(SHA256.hash(data: Array(text.utf8))), as: .url)
    }

    /// Returns true when a signature of some bytes is valid.
    /// - Parameters:
    ///   - signature: The numbers r and s, 32 bytes each (RFC 7518 section 3.4).
    ///   - bytes: The bytes that were signed.
    /// - Returns: True when the private half of this key signed the bytes.
    public func isValid(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        guard signature.count == 64, let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else {
            return false
        }
        return key.isValidSignature(signature, for: bytes)
    }
}

extension ES256PublicKey: Hashable {
    /// Compares the points of two keys.
    public static func == (left: ES256PublicKey, right: ES256PublicKey) -> Bool { left.x963 == right.x963 }

    /// Hashes the point.
    public func hash(into hasher: inout Hasher) { hasher.combine(x963) }
}
