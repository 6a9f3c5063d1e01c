import Crypto
import SignetCore

/// The format of a step's instructions for an authenticator, which depends on the version of AM (protocol/journey.md section
/// 2.7).
enum WebAuthnForm: Sendable, Hashable {
    /// AM 7.1 and later: metadata with members for apps, in addition to those for browsers.
    case current
    /// AM up to 7.0: metadata with members that contain JavaScript fragments.
    case legacy
    /// AM 6.5: a script for browsers.
    case script
}

/// The settings that both WebAuthn nodes share: the relying party and the requirements for authenticators.
struct WebAuthnStyle: Sendable {
    var form = WebAuthnForm.current
    /// `required`, `preferred` or `discouraged`.
    var userVerification = "preferred"
    /// The timeout in seconds.
    var timeout = 60
    /// The domain; nil for the server's.
    var domain: String?
    /// The name of the relying party; nil for the server's.
    var partyName: String?
    /// The origins of apps that are accepted in addition to the server's origin.
    var origins: [String] = []

    func party(_ moment: RequestTime) -> RelyingParty {
        RelyingParty(moment, domain: domain, name: partyName, otherOrigins: origins)
    }
}

/// A node that asks an authenticator to create a credential. It does not verify the attestation statement.
struct WebAuthnRegistrationNode: Node {
    var style = WebAuthnStyle()
    var generatesRecoveryCodes = true
    /// True when another node saves the device, generates its recovery codes and enforces the limit.
    var postponesStorage = false
    /// The maximum number of credentials of a user; 0 for no limit, where the oldest is replaced when there are too many
    /// (``DeviceRegistry/mostOfAKind``).
    var mostDevices = 0

    var name: String { "WebAuthnRegistrationNode" }
    var outcomes: [NodeOutcome] {
        [.unsupported, .success, .failure, .error] + (mostDevices > 0 && !postponesStorage ? [.exceedDeviceLimit] : [])
    }
    var interaction: Interaction { .ownPage }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user, tx.directory.contains(user) else { return .transition(.failure) }
        let party = style.party(visit.moment)
        guard let answers = visit.answers, case .challenged(let challenge) = journey.memory else {
            let challenge = RandomID.bytes(32)
            journey.memory = .challenged(challenge)
            let known = tx.devices.others(.webauthn, of: user).compactMap(\.credentialID)
            guard mostDevices == 0 || postponesStorage || known.count < mostDevices else {
                return .transition(.exceedDeviceLimit)
            }
            let step = WebAuthnStep(challenge: challenge, party: party, style: style, known: known)
            return .prompt(step.registration(of: user))
        }
        do {
            let answer = try WebAuthnAnswer(answers.text(1))
            guard answer.isFor("webauthn.create", challenge, party), let attestation = answer.numbers(0) else {
                return .transition(.failure)
            }
            var rest = attestation[...]
            guard let bytes = CBOR.read(&rest)?[.text("authData")]?.bytes, let data = AuthenticatorData(bytes),
                data.isGood(for: party, verified: style.userVerification == "required"), let credential = data.credential
            else { return .transition(.failure) }
            let id = Base64.encode(credential.id, as: .url)
            guard !tx.devices.others(.webauthn, of: user).contains(where: { $0.credentialID == credential.id }) else {
                return .transition(.failure)
            }
            let device = OtherDevice(
                kind: .webauthn, resourceID: RandomID.uuid(),
                name: String((answer.text(2) ?? "New Security Key").prefix(256)),
                registeredAt: visit.moment.now, lastUsedAt: visit.moment.now,
                details: ["credentialId": .string(id), "signCount": .integer(Int64(data.counter))], key: credential.key)
            if postponesStorage {
                journey.pendingCredential = device
            } else {
                tx.save(device, of: user, withCodes: generatesRecoveryCodes, &journey)
            }
            return .transition(.success)
        } catch {
            return .transition(error == .unsupported ? .unsupported : error == .malformed ? .failure : .error)
        }
    }
}

/// A node that saves the credential of a ``WebAuthnRegistrationNode`` with postponed storage.
struct WebAuthnDeviceStorageNode: Node {
    var generatesRecoveryCodes = true
    /// The maximum number of credentials of a user; 0 for no limit, where the oldest is replaced when there are too many
    /// (``DeviceRegistry/mostOfAKind``).
    var mostDevices = 0

    var name: String { "WebAuthnDeviceStorageNode" }
    var outcomes: [NodeOutcome] { [.success, .failure] + (mostDevices > 0 ? [.exceedDeviceLimit] : []) }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user, let device = journey.pendingCredential, device.kind == .webauthn else {
            return .transition(.failure)
        }
        guard mostDevices == 0 || tx.devices.others(.webauthn, of: user).count < mostDevices else {
            return .transition(.exceedDeviceLimit)
        }
        tx.save(device, of: user, withCodes: generatesRecoveryCodes, &journey)
        journey.pendingCredential = nil
        return .transition(.success)
    }
}

extension ServerTransaction {
    /// Saves a credential. Without new recovery codes, those of an earlier passkey remain valid.
    fileprivate mutating func save(
        _ device: OtherDevice, of user: UserKey, withCodes: Bool, _ journey: inout JourneyState
    ) {
        devices.save(device, for: user)
        guard withCodes else { return }
        journey.recoveryCodes = RecoveryCodes.new(for: .webauthn, device.name)
        devices.keep(journey.recoveryCodes, for: .webauthn, of: user)
    }
}

/// A node that asks an authenticator to sign with one of the user's credentials.
struct WebAuthnAuthenticationNode: Node {
    var style = WebAuthnStyle()
    var allowsRecoveryCode = false

    var name: String { "WebAuthnAuthenticationNode" }
    var outcomes: [NodeOutcome] {
        [.unsupported, .noDevice, .success, .failure, .error] + (allowsRecoveryCode ? [.recoveryCode] : [])
    }
    var interaction: Interaction { .ownPage }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user else { return .transition(.failure) }
        let known = tx.devices.others(.webauthn, of: user)
        guard !known.isEmpty else { return .transition(.noDevice) }
        let party = style.party(visit.moment)
        guard let answers = visit.answers, case .challenged(let challenge) = journey.memory else {
            let challenge = RandomID.bytes(32)
            journey.memory = .challenged(challenge)
            let ids = known.compactMap(\.credentialID)
            let step = WebAuthnStep(challenge: challenge, party: party, style: style, known: ids)
            var page = step.authentication()
            if allowsRecoveryCode { page.callbacks.append(.confirmation(["Use Recovery Code"], default: 0)) }
            return .prompt(page)
        }
        if allowsRecoveryCode, answers.number(2) == 0 { return .transition(.recoveryCode) }
        do {
            let answer = try WebAuthnAnswer(answers.text(1))
            guard answer.isFor("webauthn.get", challenge, party), let bytes = answer.numbers(0),
                let signature = answer.numbers(1), let id = answer.text(2).flatMap({ try? Base64.decode($0) }),
                var device = known.first(where: { $0.credentialID == id }), let key = device.key,
                let data = AuthenticatorData(bytes), data.isGood(for: party, verified: style.userVerification == "required"),
                key.accepts(derSignature: signature, of: bytes + Array(SHA256.hash(data: answer.clientData)))
            else { return .transition(.failure) }
            // A counter that does not increase indicates a cloned authenticator (WebAuthn section 6.1.1). Two zeros mean that the
            // authenticator has no counter.
            let last = device.details["signCount"]?.wholeNumber ?? 0
            guard data.counter == 0 && last == 0 || Int64(data.counter) > last else { return .transition(.failure) }
            device.details["signCount"] = .integer(Int64(data.counter))
            device.lastUsedAt = visit.moment.now
            tx.devices.save(device, for: user)
            return .transition(.success)
        } catch {
            return .transition(error == .unsupported ? .unsupported : error == .malformed ? .failure : .error)
        }
    }
}

extension OtherDevice {
    fileprivate var credentialID: [UInt8]? { details["credentialId"]?.string.flatMap { try? Base64.decode($0) } }
}

/// The callbacks of a WebAuthn step: the instructions for the authenticator and the input for its answer.
struct WebAuthnStep: Sendable {
    let challenge: [UInt8]
    let party: RelyingParty
    let style: WebAuthnStyle
    /// The ids of the user's credentials.
    let known: [[UInt8]]

    func registration(of user: UserKey) -> Page {
        let userID = Base64.encode(Array(user.name.utf8), as: .standard)
        let selection: JSONValue = .object([
            "userVerification": .string(style.userVerification), "requireResidentKey": .bool(false),
        ])
        let algorithms: JSONValue = .array([.object(["type": .string("public-key"), "alg": .integer(-7)])])
        if style.form == .script {
            return script(
                """
                var publicKey = { challenge: new Int8Array([\(challenge.signedList)]).buffer,
                  rp: { id: "\(party.id)", name: "\(party.name.scriptText)" },
                  user: { id: Uint8Array.from("\(userID)", function (c) { return c.charCodeAt(0) }), \
                name: "\(user.name.scriptText)", displayName: "\(user.name.scriptText)" },
                  pubKeyCredParams: [ { "type": "public-key", "alg": -7 } ], timeout: \(style.timeout * 1000), attestation: "none",
                  excludeCredentials: [\(legacyList)], authenticatorSelection: \(JSON.text(of: selection)) };
                """)
        }
        var data = common("webauthn_registration")
        data.merge([
            "relyingPartyName": .string(party.name), "userName": .string(user.name), "displayName": .string(user.name),
            "userId": .string(userID), "attestationPreference": .string("none"),
            "relyingPartyId": .string("id: \"\(party.id)\","), "authenticatorSelection": .string(JSON.text(of: selection)),
            "pubKeyCredParams": .string("[ { \"type\": \"public-key\", \"alg\": -7 } ]"),
            "excludeCredentials": .string(known.isEmpty ? "" : "excludeCredentials: [\(legacyList)]"),
        ]) { $1 }
        if style.form == .current {
            data.merge([
                "_relyingPartyId": .string(party.id), "_authenticatorSelection": selection, "_pubKeyCredParams": algorithms,
                "_excludeCredentials": list, "supportsJsonResponse": .bool(true),
            ]) { $1 }
        }
        return metadata(data)
    }

    func authentication() -> Page {
        if style.form == .script {
            return script(
                """
                var acceptableCredentials = [\(legacyList)];
                var options = { challenge: new Int8Array([\(challenge.signedList)]).buffer, timeout: \(style.timeout * 1000),
                  userVerification: "\(style.userVerification)", rpId: "\(party.id)", allowCredentials: acceptableCredentials };
                """)
        }
        var data = common("webauthn_authentication")
        data["relyingPartyId"] = .string("rpId: \"\(party.id)\",")
        data["allowCredentials"] = .string("allowCredentials: [\(legacyList)]")
        data["acceptableCredentials"] = .string(legacyList)
        if style.form == .current {
            data.merge([
                "_relyingPartyId": .string(party.id), "_allowCredentials": list, "supportsJsonResponse": .bool(true),
            ]) { $1 }
        }
        return metadata(data)
    }

    private func common(_ action: String) -> [String: JSONValue] {
        [
            "_action": .string(action), "_type": .string("WebAuthn"),
            "challenge": .string(Base64.encode(challenge, as: .standard)),
            "timeout": .string(String(style.timeout * 1000)), "userVerification": .string(style.userVerification),
        ]
    }

    private func metadata(_ data: [String: JSONValue]) -> Page {
        Page(callbacks: [.any("MetadataCallback", ["data": .object(data)]), Self.outcome])
    }

    private func script(_ text: String) -> Page {
        Page(callbacks: [.text(text, type: 4), Self.outcome])
    }

    private static let outcome = JourneyCallback.hidden(id: "webAuthnOutcome", value: "false")

    private var list: JSONValue {
        .array(
            known.map { id in
                let numbers = id.map { JSONValue.integer(Int64(Int8(bitPattern: $0))) }
                return .object(["type": .string("public-key"), "id": .array(numbers)])
            })
    }

    private var legacyList: String {
        known.map { "{ \"type\": \"public-key\", \"id\": new Int8Array([\($0.signedList)]).buffer }" }.joined(separator: ", ")
    }
}

extension [UInt8] {
    /// The bytes as a list of signed decimal numbers.
    fileprivate var signedList: String { map { String(Int8(bitPattern: $0)) }.joined(separator: ", ") }
}

extension String {
    /// The text escaped for a string literal in a script. It cannot end the literal or the script element.
    var scriptText: String {
        String(JSON.text(of: .string(self)).dropFirst().dropLast()).replacing("<", with: "\\u003c")
    }
}
