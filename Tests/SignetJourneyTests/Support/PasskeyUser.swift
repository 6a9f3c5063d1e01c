import SignetCore
import SignetJourney
import SignetOAuth
import SignetStorage
import SignetTesting
import TestSupport

/// A user that answers the questions of a passkey authenticator, and remembers them.
final class PasskeyUser: PasskeyConsent {
    private struct State {
        var uses: [PasskeyUse] = []
        var choices: [[Passkey]] = []
    }

    private let allowsUse: Bool
    private let chosen: (@Sendable ([Passkey]) -> Passkey?)
    private let state = Mutex(State())

    init(allows: Bool = true, chooses chosen: @escaping @Sendable ([Passkey]) -> Passkey? = { $0.first }) {
        allowsUse = allows
        self.chosen = chosen
    }

    /// The uses that the user was asked about.
    var uses: [PasskeyUse] { state.withLock { $0.uses } }
    /// The lists from which the user was asked to choose.
    var choices: [[Passkey]] { state.withLock { $0.choices } }

    func allows(_ use: PasskeyUse) async throws -> Bool {
        state.withLock { $0.uses.append(use) }
        return allowsUse
    }

    func choose(among passkeys: [Passkey]) async throws -> Passkey? {
        state.withLock { $0.choices.append(passkeys) }
        return chosen(passkeys)
    }
}

/// A check that recognizes the user, or not.
struct ScriptedPresence: DevicePresence {
    var supported: Set<DeviceAuthenticationType> = [.biometricAllowFallback]
    var recognizes = true

    func confirm(_ type: DeviceAuthenticationType, username: String) async throws -> Bool { recognizes }
}

/// Requests as a server makes them.
enum PasskeyRequest {
    static let origin = "https://login.example.com"

    /// Returns a request for a new passkey.
    static func registration(
        party: String? = "example.com", userID: String = "mira", algorithms: [Int] = [-7], attestation: String = "none",
        verification: UserVerification = .discouraged, attachment: String? = nil, excluded: [[UInt8]] = []
    ) throws -> WebAuthnRegistration {
        var data = common("webauthn_registration", party)
        var selection: [String: JSONValue] = ["userVerification": .string(verification.rawValue)]
        selection["authenticatorAttachment"] = attachment.map { .string($0) }
        let new: [String: JSONValue] = [
            "userId": .string(Base64.encode(Array(userID.utf8), as: .standard)), "userName": .string(userID),
            "displayName": .string(userID), "relyingPartyName": "Example", "attestationPreference": .string(attestation),
            "_authenticatorSelection": .object(selection),
            "_pubKeyCredParams": .array(algorithms.map { .object(["type": "public-key", "alg": .integer(Int64($0))]) }),
            "_excludeCredentials": list(excluded),
        ]
        data.merge(new) { $1 }
        guard case .registration(let request)? = WebAuthnRequest(step(data)) else { throw Unexpected() }
        return request
    }

    /// Returns a request for a signature.
    static func authentication(
        party: String? = "example.com", allowed: [[UInt8]] = [], verification: UserVerification = .discouraged
    ) throws -> WebAuthnAuthentication {
        var data = common("webauthn_authentication", party)
        data["userVerification"] = .string(verification.rawValue)
        data["_allowCredentials"] = list(allowed)
        guard case .authentication(let request)? = WebAuthnRequest(step(data)) else { throw Unexpected() }
        return request
    }

    private static func common(_ action: String, _ party: String?) -> [String: JSONValue] {
        var data: [String: JSONValue] = ["_action": .string(action), "_type": "WebAuthn", "challenge": "AAECAw=="]
        data["_relyingPartyId"] = party.map { .string($0) }
        return data
    }

    private static func list(_ ids: [[UInt8]]) -> JSONValue {
        .array(ids.map { id in .object(["type": "public-key", "id": .array(id.map { .integer(Int64($0)) })]) })
    }

    private static func step(_ data: [String: JSONValue]) -> JourneyStep {
        let callback = JourneyCallback(type: "MetadataCallback", output: [.init(name: "data", value: .object(data))])
        return JourneyStep(authId: "a", callbacks: [callback])
    }
}

extension VaultPasskeys {
    /// Creates an authenticator for a server of the tests.
    init(
        _ vault: Vault, _ user: PasskeyUser = PasskeyUser(), verification: ScriptedPresence? = nil,
        origin: String = PasskeyRequest.origin, clock: any WallClock = ManualClock(),
        timer: any Clock<Duration> = ContinuousClock()
    ) throws {
        self.init(
            vault, origin: WebAuthnOrigin(try Endpoint(origin, policy: .allowingPlainHTTP(to: ["plain.example.com"]))),
            consent: user, verification: verification, clock: clock, timer: timer)
    }
}
