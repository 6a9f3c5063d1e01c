public import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Binds this device to a person, and signs with the key that was bound (protocol/journey.md section 2.8): ES256 signatures in
/// compact form (RFC 7515), with the claims `sub`, `challenge`, `iss`, `iat`, `nbf`, `exp` and `platform`, and while binding with the
/// public key.
public struct DeviceBinding: Sendable {
    private let keys: any DeviceBindingKeys
    private let server: String
    private let realm: Realm
    private let device: Device
    private let clock: any WallClock
    private let timer: any Clock<Duration>

    /// What the server is told of the device and the app.
    public struct Device: Sendable, Hashable {
        /// What the device is known by, the same each time.
        public var identifier: String
        /// What the person calls it.
        public var name: String
        /// The app, as `iss` names it: on Apple's systems the bundle's id, on Android the package.
        public var application: String
        /// The platform: the existing SDKs say `ios` and `android`, and a server may have rules for those.
        public var platform: String

        /// A device as given.
        public init(identifier: String, name: String, application: String, platform: String = "linux") {
            self.identifier = identifier
            self.name = name
            self.application = application
            self.platform = platform
        }
    }

    /// What binds and signs.
    /// - Parameters:
    ///   - keys: where the keys are.
    ///   - profile: the server and the realm that they are for. Keys of others are neither used nor shown.
    ///   - device: what the server is told of the device.
    ///   - clock: what time the signatures have.
    ///   - timer: what the server's patience is measured by.
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

    /// Makes a key for a person and signs the server's challenge with it. Keys that there were before stay, and go on signing until
    /// the new one is confirmed: a server that refuses the new one still knows them.
    ///
    /// Say what became of it: ``confirm(_:)`` when the journey goes on, ``discard(_:)`` when the server refuses the key.
    /// - Returns: the key, and the signature in compact form.
    /// - Throws: ``DeviceClientError``, ``DeviceClientError/unsupported`` among them where the server wants an attestation: none of
    ///   these keys has hardware that vouches for it; what the keys throw; `CancellationError`. No key is left behind.
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

    /// Notes that the server took a key: of this person's keys it signs from now on.
    /// - Throws: what the keys throw.
    public func confirm(_ key: DeviceKey) async throws {
        try await keys.confirm(key)
    }

    /// Removes a key that the server did not take.
    /// - Throws: what the keys throw.
    public func discard(_ key: DeviceKey) async throws {
        try await keys.remove(key)
    }

    /// Removes a key that the server never heard of, also when nobody waits any more. One that cannot be removed was not confirmed,
    /// so it stands in no other key's way.
    private func forget(_ key: DeviceKey) async {
        await Task { try? await keys.remove(key) }.value
    }

    /// Signs the server's challenge with a key that was bound before.
    /// - Parameters:
    ///   - request: what is to be signed.
    ///   - claims: more to sign. A name that the signature has already is refused.
    ///   - choose: which of several people's keys to sign with, when the server names nobody; nil gives up. Without it the newest signs.
    /// - Throws: ``DeviceClientError``, ``CallbackError/Code/invalid`` for a claim that cannot be; what the keys throw;
    ///   `CancellationError`.
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

    /// The keys that may sign, the newest last: this server's and this realm's, of the person it names. Where the server took a
    /// person's key, those that it was not seen to take stand back.
    private func candidates(for userID: String?) async throws -> [DeviceKey] {
        let mine = try await keys.keys().filter {
            $0.owner.server == server && $0.owner.realm == realm && (userID == nil || $0.owner.userID == userID)
        }
        let settled = Set(mine.filter(\.isConfirmed).map(\.owner.userID))
        return mine.filter { $0.isConfirmed || !settled.contains($0.owner.userID) }.sorted { $0.createdAt < $1.createdAt }
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

    /// What the server was told of the device.
    var identity: Device { device }

    /// Gives up when it takes longer than the server waits. What ignores being cancelled is waited for, and what it has made then
    /// is undone.
    private func within<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value,
        tooLate undo: @Sendable (Value) async -> Void = { _ in }
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { [timer] group in
            group.addTask { try await body() }
            group.addTask {
                try await timer.sleep(for: limit, tolerance: nil)
                return nil
            }
            let failure: any Error
            do {
                let first = try await group.next() ?? nil
                if let value = first {
                    group.cancelAll()
                    // Nobody waits for it any more, though it was finished before the others knew.
                    if Task.isCancelled {
                        await undo(value)
                        throw CancellationError()
                    }
                    return value
                }
                failure = DeviceClientError.timeout
            } catch {
                failure = error
            }
            group.cancelAll()
            while let late = await group.nextResult() {
                if case .success(let value?) = late { await undo(value) }
            }
            throw failure
        }
    }
}
