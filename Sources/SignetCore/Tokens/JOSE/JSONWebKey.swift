import Crypto

/// A public key as a JSON Web Key (RFC 7517): EC with P-256, OKP with Ed25519, or RSA.
public struct JSONWebKey: Sendable, Hashable {
    /// The numbers of a public key.
    public enum Numbers: Sendable, Hashable {
        /// The coordinates of a point on P-256, 32 bytes each (RFC 7518 section 6.2.1).
        case p256(x: [UInt8], y: [UInt8])
        /// An Ed25519 public key of 32 bytes (RFC 8037 section 2).
        case ed25519([UInt8])
        /// The modulus and the exponent of an RSA key, without leading zeros (RFC 7518 section 6.3.1).
        case rsa(modulus: [UInt8], exponent: [UInt8])
    }

    /// The numbers of the key.
    public let numbers: Numbers
    /// The ID of the key (`kid`); nil when it has none.
    public let identifier: String?
    /// The only algorithm for which the key may be used (`alg`); nil for each algorithm of its type.
    public let algorithm: JWSAlgorithm?

    /// Creates a key.
    /// - Parameters:
    ///   - numbers: The numbers of the key.
    ///   - identifier: The ID of the key; nil for none.
    ///   - algorithm: The only algorithm for which the key may be used; nil for each algorithm of its type.
    /// - Throws: ``JSONWebKeyError`` with the code `number`, `size` or `purpose`.
    public init(_ numbers: Numbers, identifier: String? = nil, algorithm: JWSAlgorithm? = nil) throws(JSONWebKeyError) {
        switch numbers {
        case .p256(let x, let y):
            guard x.count == 32, y.count == 32, Self.point(x, y) != nil else { throw JSONWebKeyError(.number) }
        case .ed25519(let key):
            guard key.count == 32 else { throw JSONWebKeyError(.number) }
        case .rsa(let modulus, let exponent): try Self.checkRSA(modulus, exponent)
        }
        if let algorithm, !Self.algorithms(of: numbers).contains(algorithm) { throw JSONWebKeyError(.purpose) }
        self.numbers = numbers
        self.identifier = identifier
        self.algorithm = algorithm
    }

    /// Reads a key from JSON.
    ///
    /// Unknown members are ignored (RFC 7517 section 4).
    /// - Throws: ``JSONWebKeyError``, also for a key with a private member.
    public init(_ value: JSONValue) throws(JSONWebKeyError) {
        guard let members = value.object, let type = members["kty"]?.string else { throw JSONWebKeyError(.form) }
        // RFC 9449 section 4.2: the key of a proof must not contain a private key. No reader of this package needs one.
        guard type != "oct", !members.keys.contains(where: Self.privateMembers.contains) else {
            throw JSONWebKeyError(.privateKey)
        }
        let algorithm = try Self.checkPurpose(of: members)
        let identifier = try Self.text("kid", of: members)
        switch (type, members["crv"]?.string) {
        case ("EC", "P-256"):
            try self.init(
                .p256(x: Self.number("x", of: members), y: Self.number("y", of: members)), identifier: identifier,
                algorithm: algorithm)
        case ("OKP", "Ed25519"):
            try self.init(.ed25519(Self.number("x", of: members)), identifier: identifier, algorithm: algorithm)
        case ("RSA", _):
            try self.init(
                .rsa(modulus: Self.number("n", of: members), exponent: Self.number("e", of: members)), identifier: identifier,
                algorithm: algorithm)
        default: throw JSONWebKeyError(.unsupported)
        }
    }

    /// The members of private and symmetric keys (RFC 7518 sections 6.2.2, 6.3.2 and 6.4, RFC 8037 section 2).
    private static let privateMembers: Set<String> = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// The required members of the key (RFC 7638 section 3.2), as in the header of a proof.
    public var requiredMembers: [String: JSONValue] {
        func text(_ number: [UInt8]) -> JSONValue { .string(Base64.encode(number, as: .url)) }
        return switch numbers {
        case .p256(let x, let y): ["kty": .string("EC"), "crv": .string("P-256"), "x": text(x), "y": text(y)]
        case .ed25519(let key): ["kty": .string("OKP"), "crv": .string("Ed25519"), "x": text(key)]
        case .rsa(let modulus, let exponent): ["kty": .string("RSA"), "n": text(modulus), "e": text(exponent)]
        }
    }

    /// The key as a member of a JWK set, with `use`, and `kid` and `alg` when the key has them.
    public var json: JSONValue {
        var members = requiredMembers
        members["use"] = .string("sig")
        members["kid"] = identifier.map { .string($0) }
        members["alg"] = algorithm.map { .string($0.rawValue) }
        return .object(members)
    }

    /// The SHA-256 thumbprint of the key, as base64url (RFC 7638), which is also the `jkt` of RFC 9449.
    public var thumbprint: String {
        // The members are sorted by name and written without white space, as section 3.3 of RFC 7638 requires.
        Base64.encode(Array(SHA256.hash(data: JSON.encode(JSONValue.object(requiredMembers)))), as: .url)
    }

    /// The algorithms for which the key may be used.
    public var algorithms: [JWSAlgorithm] { algorithm.map { [$0] } ?? Self.algorithms(of: numbers) }

    private static func algorithms(of numbers: Numbers) -> [JWSAlgorithm] {
        switch numbers {
        case .p256: [.es256]
        case .ed25519: [.edDSA]
        case .rsa: [.ps256, .rs256]
        }
    }
}

extension JSONWebKey {
    /// Verifies an ES256 or EdDSA signature.
    ///
    /// RSA signatures need a function of the caller, because this module has no RSA: see ``JWSVerifier``.
    /// - Parameters:
    ///   - signature: The signature as in a JWS. For ECDSA, it is the concatenation of the two numbers.
    ///   - input: The signed bytes.
    ///   - algorithm: The algorithm in the header.
    /// - Returns: True when the signature is valid; false for another algorithm than that of the key, and for RSA.
    package func isValid(_ signature: [UInt8], of input: [UInt8], _ algorithm: JWSAlgorithm) -> Bool {
        switch (numbers, algorithm) {
        case (.p256(let x, let y), .es256):
            guard let key = Self.point(x, y), let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            else {
                return false
            }
            return key.isValidSignature(signature, for: input)
        case (.ed25519(let bytes), .edDSA):
            return (try? Curve25519.Signing.PublicKey(rawRepresentation: bytes))?.isValidSignature(signature, for: input) ?? false
        default: return false
        }
    }

    private static func point(_ x: [UInt8], _ y: [UInt8]) -> P256.Signing.PublicKey? {
        try? P256.Signing.PublicKey(x963Representation: [4] + x + y)
    }

    private static func checkRSA(_ modulus: [UInt8], _ exponent: [UInt8]) throws(JSONWebKeyError) {
        guard let first = modulus.first, let firstOfExponent = exponent.first, first != 0, firstOfExponent != 0,
            modulus.last.map({ $0 & 1 == 1 }) ?? false, exponent.last.map({ $0 & 1 == 1 }) ?? false, exponent != [1],
            exponent.count <= 8
        else { throw JSONWebKeyError(.number) }
        let bits = modulus.count * 8 - first.leadingZeroBitCount
        guard (2048...8192).contains(bits) else { throw JSONWebKeyError(.size) }
    }

    private static func text(_ name: String, of members: [String: JSONValue]) throws(JSONWebKeyError) -> String? {
        guard let value = members[name], value != .null else { return nil }
        guard let text = value.string else { throw JSONWebKeyError(.form) }
        return text
    }

    private static func number(_ name: String, of members: [String: JSONValue]) throws(JSONWebKeyError) -> [UInt8] {
        guard let text = members[name]?.string, let number = try? Base64.decodeURL(text) else { throw JSONWebKeyError(.number) }
        return number
    }

    /// Checks `use`, `key_ops` and `alg` (RFC 7517 sections 4.2 to 4.4), and returns the algorithm.
    private static func checkPurpose(of members: [String: JSONValue]) throws(JSONWebKeyError) -> JWSAlgorithm? {
        if let use = try text("use", of: members), use != "sig" { throw JSONWebKeyError(.purpose) }
        if let operations = members["key_ops"], operations != .null {
            guard let names = operations.array, names.contains(.string("verify")) else { throw JSONWebKeyError(.purpose) }
        }
        guard let name = try text("alg", of: members) else { return nil }
        guard let algorithm = JWSAlgorithm(rawValue: name) else { throw JSONWebKeyError(.purpose) }
        return algorithm
    }
}

/// A function that verifies a JWS signature with a public key.
///
/// It gets the key, the algorithm in the header, the signature and the signed bytes, and returns true for a valid signature.
package typealias JWSVerifier = (JSONWebKey, JWSAlgorithm, _ signature: [UInt8], _ input: [UInt8]) -> Bool
