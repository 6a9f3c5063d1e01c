import Foundation
import SignetCore

/// Signs and verifies the server's tokens: id_tokens, access tokens, logout tokens and responses of `userinfo`.
///
/// The keys are stored with the state. They are read, or the first ones are generated, when they are first needed, so that the
/// server starts without delay.
actor TokenSigner {
    /// The time that decides which keys are accepted.
    struct Clock: Sendable {
        let now: Date
        /// The longest lifetime of a token, in seconds, for which a replaced key is still accepted.
        let overlap: Double
    }

    private let configured: Secret?
    private let kept: SigningKeys
    private let clock: @Sendable () -> Clock
    /// The task that loads the keys; the newest key of each kind, which signs, is last.
    private var loading: Task<[SigningKey], any Error>?
    /// The keys that are not published, for ``signWithUnknownKey(_:_:)``.
    private var unknownKeys: [SigningKey.Kind: SigningKey] = [:]

    /// Creates the signer.
    /// - Parameters:
    ///   - configured: A private RSA key in PEM; nil to generate one.
    ///   - kept: The keys in the stored state.
    ///   - clock: Returns the present time.
    init(_ configured: Secret?, _ kept: SigningKeys, clock: @escaping @Sendable () -> Clock) {
        self.configured = configured
        self.kept = kept
        self.clock = clock
    }

    /// The key set for verification by clients (RFC 7517 section 5).
    var keySet: [String: JSONValue] {
        get async throws { ["keys": .array(try await acceptedKeys().flatMap { try $0.published })] }
    }

    /// Returns the keys that verify tokens: those that sign, and those that were replaced less than the longest lifetime of a token
    /// ago; RSA keys first, and of each kind the newest one first.
    func acceptedKeys() async throws -> [SigningKey] {
        let time = clock()
        let usable = try await keys().filter { $0.isUsable(at: time.now, for: time.overlap) }
        return SigningKey.Kind.allCases.flatMap { kind in usable.filter { $0.kind == kind }.reversed() }
    }

    /// The type of a signed JWT that needs no other type (RFC 7519 section 5.1), such as an id_token.
    static let plainType = "JWT"
    /// The type of a logout token (OpenID Connect Back-Channel Logout 1.0 section 2.4).
    static let logoutType = "logout+jwt"
    /// The type of a JWT access token (RFC 9068 section 2.1).
    static let accessTokenType = "at+jwt"

    /// Signs claims with the newest key of an algorithm.
    /// - Parameters:
    ///   - claims: The claims.
    ///   - algorithm: The algorithm.
    ///   - type: The type in the header.
    /// - Returns: The JWT.
    /// - Throws: An error when the keys cannot be read, or the configured key isn't valid.
    func sign(
        _ claims: [String: JSONValue], with algorithm: JWSAlgorithm = .rs256, type: String = plainType
    ) async throws -> String {
        guard let key = try await keys().last(where: { $0.kind.algorithms.contains(algorithm) }) else {
            throw CancellationError()
        }
        return try await key.sign(claims, algorithm, type: type)
    }

    /// Signs claims with a key that is not in the key set, for a fault.
    /// - Parameters:
    ///   - claims: The claims.
    ///   - algorithm: The algorithm.
    /// - Returns: A JWT whose header names the key (`kid`).
    /// - Throws: An error when the key cannot be generated.
    func signWithUnknownKey(_ claims: [String: JSONValue], _ algorithm: JWSAlgorithm = .rs256) async throws -> String {
        let kind = SigningKey.Kind.allCases.first { $0.algorithms.contains(algorithm) } ?? .rsa
        let key: SigningKey
        if let unknown = unknownKeys[kind] {
            key = unknown
        } else {
            key = try SigningKey(StoredSigningKey(kind: kind, secret: try await SigningKey.generate(kind)))
        }
        unknownKeys[kind] = key
        return try await key.sign(claims, algorithm, type: Self.plainType)
    }

    /// Returns a token that this server signed, even an expired one; nil for any other text.
    func verified(_ text: String) async throws -> SignedToken? {
        guard let token = SignedToken(text) else { return nil }
        return try await acceptedKeys().contains { $0.hasSigned(token) } ? token : nil
    }

    /// Generates new keys of each kind, which sign from now on.
    ///
    /// Earlier keys are still published, until tokens that they have signed have expired.
    func rotate() async throws {
        _ = try await keys()
        var new: [SigningKey.Kind: Secret] = [:]
        for kind in SigningKey.Kind.allCases { new[kind] = try await SigningKey.generate(kind) }
        let time = clock()
        _ = try await kept.add(new, onlyAsFirst: false, at: time.now, keepingFor: time.overlap)
        forget()
    }

    /// Forgets the loaded keys after another server has changed them.
    ///
    /// They are read again when they are needed.
    func forget() { loading = nil }

    /// Returns the keys.
    ///
    /// Concurrent callers share one task that reads or generates them.
    private func keys() async throws -> [SigningKey] {
        let task = loading ?? Task { [configured, kept, clock] in try await Self.load(configured, kept, clock()) }
        loading = task
        do {
            return try await task.value
        } catch {
            if loading == task { loading = nil }
            throw error
        }
    }

    private static func load(_ configured: Secret?, _ kept: SigningKeys, _ time: Clock) async throws -> [SigningKey] {
        var stored = try await kept.all()
        var missing: [SigningKey.Kind: Secret] = [:]
        for kind in SigningKey.Kind.allCases where !stored.contains(where: { $0.kind == kind }) {
            if kind == .rsa, let configured {
                missing[kind] = configured
            } else {
                missing[kind] = try await SigningKey.generate(kind)
            }
        }
        if !missing.isEmpty {
            stored = try await kept.add(missing, onlyAsFirst: true, at: time.now, keepingFor: time.overlap)
        }
        // A key that is new in the configuration signs from now on.
        if let configured, !stored.contains(where: { $0.secret == configured }) {
            stored = try await kept.add([.rsa: configured], onlyAsFirst: false, at: time.now, keepingFor: time.overlap)
        }
        return try stored.map { try SigningKey($0) }
    }
}

extension TokenSigner {
    /// Returns the left half of the access token's hash (OpenID Connect Core 1.0 section 3.1.3.6).
    /// - Parameters:
    ///   - token: The access token.
    ///   - algorithm: The algorithm of the id_token, which decides on the hash function.
    /// - Returns: The value of the claim `at_hash`.
    static func hash(ofAccessToken token: String, _ algorithm: JWSAlgorithm = .rs256) -> String {
        IDTokenRules.hash(of: Secret(token.utf8), algorithm: algorithm.rawValue) ?? ""
    }
}
