import Foundation
public import SignetCore
public import SignetOAuth

/// The client side of device binding (protocol/journey.md section 2.8): binds this device to a user, and signs with the bound
/// key.
///
/// The signatures use ES256 in JWS compact serialization (RFC 7515) and contain the claims `sub`, `challenge`, `iss`, `iat`,
/// `nbf`, `exp` and `platform`. The signature that binds a device also contains the public key.
public struct DeviceBinding: Sendable {
    private let keys: any DeviceBindingKeys
    private let server: String
    private let realm: Realm
    /// The data about the device that the server receives.
    let device: Device
    private let clock: any WallClock
    private let timer: any Clock<Duration>

    /// The data about the device and the app that the server receives.
    public struct Device: Sendable, Hashable {
        /// The ID of the device.
        ///
        /// It must stay the same over time.
        public var identifier: String
        /// The name that the user gives to the device.
        public var name: String
        /// The value of the claim `iss`, which identifies the app: the bundle ID on Apple platforms, the package name on Android.
        public var application: String
        /// The platform.
        ///
        /// The ForgeRock SDKs send `ios` and `android`, and a server may have rules for these values.
        public var platform: String

        /// Creates the description of a device.
        public init(identifier: String, name: String, application: String, platform: String = "linux") {
            self.identifier = identifier
            self.name = name
            self.application = application
            self.platform = platform
        }
    }

    /// Creates a device binding client.
    /// - Parameters:
    ///   - keys: The store of the device keys.
    ///   - profile: The server and the realm of the keys. Keys of other servers and realms are neither used nor shown.
    ///   - device: The data about the device that the server receives.
    ///   - clock: The clock for the times in the signatures.
    ///   - timer: The clock for the server's timeout.
    public init(
        _ keys: any DeviceBindingKeys, for profile: ServerProfile, device: Device, clock: any WallClock = SystemWallClock(),
        timer: any Clock<Duration> = ContinuousClock()
    ) {
        self.keys = keys
        server = profile.url.url
        realm = profile.realm
        self.device = device
        self.clock = clock
        self.timer = timer
    }

    /// Creates a key for a user and signs the server's challenge with it.
    ///
    /// The user's earlier keys stay, and continue to sign until the new key is confirmed. A server that rejects the new key
    /// therefore still knows them.
    ///
    /// Report the result afterwards: call ``confirm(_:)`` when the journey continues, and ``discard(_:)`` when the server rejects
    /// the key.
    /// - Returns: The key, and the signature in compact serialization.
    /// - Throws: ``DeviceClientError``, for example ``DeviceClientError/unsupported`` when the server requires an attestation,
    ///   because none of these keys has attesting hardware; the errors of the key store; `CancellationError`. After an error, the
    ///   new key is removed.
    public func bind(_ request: DeviceBindingCallback) async throws -> (key: DeviceKey, jws: String) {
        guard let protection = request.authenticationType, !request.wantsAttestation else { throw DeviceClientError.unsupported }
        let owner = DeviceKeyOwner(server: server, realm: realm, userID: request.userID, username: request.username)
        return try await within(request.timeout) { [keys, clock] in
            let key = try await keys.makeKey(for: owner, protection: protection, at: clock.now)
            do {
                let jws = try await sign(challenge: request.challenge, with: key, timeout: request.timeout, [:], withKey: true)
                return (key, jws)
            } catch {
                await forget(key)
                throw error
            }
        } tooLate: { (key, _) in
            await forget(key)
        }
    }

    /// Marks a key as accepted by the server.
    ///
    /// From now on, it takes precedence over the user's older and unconfirmed keys.
    /// - Throws: The errors of the key store.
    public func confirm(_ key: DeviceKey) async throws {
        try await keys.confirm(key)
    }

    /// Removes a key that the server rejected.
    /// - Throws: The errors of the key store.
    public func discard(_ key: DeviceKey) async throws {
        try await keys.remove(key)
    }

    /// Removes a key that the server never received, even when the calling task is canceled.
    ///
    /// A key that can't be removed stays unconfirmed, so it doesn't take precedence over another key.
    private func forget(_ key: DeviceKey) async {
        await Task { try? await keys.remove(key) }.value
    }

    /// Signs the server's challenge with a key that was bound before.
    /// - Parameters:
    ///   - request: The callback that asks for the signature.
    ///   - claims: Additional claims to sign. A claim that the signature already contains is an error.
    ///   - choose: A closure that selects the key when the server names no user and several keys are available. It returns nil to
    ///     cancel. Without a closure, the newest key signs.
    /// - Returns: A compact JWS, signed with ES256, that contains the challenge and the claims.
    /// - Throws: ``DeviceClientError``; ``CallbackError/Code/invalid`` for a claim that isn't allowed; the errors of the key
    ///   store; `CancellationError`.
    public func sign(
        _ request: DeviceSigningVerifierCallback, claims: [String: JSONValue] = [:],
        choose: (@Sendable ([DeviceKey]) async throws -> DeviceKey?)? = nil
    ) async throws -> String {
        if let taken = claims.keys.sorted().first(where: { Self.ownClaims.contains($0) }) {
            throw CallbackError(.invalid, DeviceSigningVerifierCallback.type, "the claim \(taken) is the signature's own")
        }
        return try await within(request.timeout) {
            let known = try await candidates(for: request.userID)
            guard let newest = known.last else { throw DeviceClientError.clientNotRegistered }
            var key = newest
            if request.userID == nil, known.count > 1, let choose {
                guard let chosen = try await choose(known) else { throw DeviceClientError.abort }
                key = chosen
            }
            return try await sign(challenge: request.challenge, with: key, timeout: request.timeout, claims, withKey: false)
        }
    }

    /// Returns the keys that may sign, the newest last: the keys of this server and realm, and of the user when the request names
    /// one.
    ///
    /// When a user has a confirmed key, the user's unconfirmed keys are excluded.
    private func candidates(for userID: String?) async throws -> [DeviceKey] {
        let mine = try await keys.keys().filter {
            $0.owner.server == server && $0.owner.realm == realm && (userID == nil || $0.owner.userID == userID)
        }
        let confirmedUsers = Set(mine.filter(\.isConfirmed).map(\.owner.userID))
        return mine.filter { $0.isConfirmed || !confirmedUsers.contains($0.owner.userID) }.sorted { $0.createdAt < $1.createdAt }
    }

    private static let ownClaims: Set<String> = ["sub", "challenge", "exp", "iat", "nbf", "iss", "platform"]

    private func sign(
        challenge: String, with key: DeviceKey, timeout: Duration, _ claims: [String: JSONValue], withKey: Bool
    ) async throws -> String {
        var header: [String: JSONValue] = ["alg": .string("ES256"), "typ": .string("JWS"), "kid": .string(key.id)]
        if withKey { header["jwk"] = .object(Self.jwk(of: key)) }
        let now = Int64(clock.now.timeIntervalSince1970)
        var payload = claims
        payload["sub"] = .string(key.owner.userID)
        payload["challenge"] = .string(challenge)
        payload["iss"] = .string(device.application)
        payload["platform"] = .string(device.platform)
        payload["iat"] = .integer(now)
        payload["nbf"] = .integer(now)
        payload["exp"] = .integer(now + timeout.components.seconds)
        let input = [header, payload].map { Base64.encode(JSON.encode(.object($0)), as: .url) }.joined(separator: ".")
        let signature = try await keys.sign(Array(input.utf8), with: key)
        guard signature.count == 64 else { throw DeviceClientError.clientDeviceErrors }
        return "\(input).\(Base64.encode(signature, as: .url))"
    }

    private static func jwk(of key: DeviceKey) -> [String: JSONValue] {
        [
            "kty": .string("EC"), "crv": .string("P-256"), "use": .string("sig"), "alg": .string("ES256"), "kid": .string(key.id),
            "x": .string(Base64.encode(key.publicKey.dropFirst(1).prefix(32), as: .url)),
            "y": .string(Base64.encode(key.publicKey.suffix(32), as: .url)),
        ]
    }

    /// Runs `body`, and throws ``DeviceClientError/timeout`` when it takes longer than `limit`.
    ///
    /// Waits for a body that ignores its cancellation, and then undoes its result.
    private func within<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value,
        tooLate undo: @Sendable (Value) async -> Void = { _ in }
    ) async throws -> Value {
        guard let value = try await withTimeout(limit, on: timer, undoing: undo, body) else { throw DeviceClientError.timeout }
        return value
    }
}
