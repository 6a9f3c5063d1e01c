import Crypto
import Foundation
import SignetCore

/// An authenticator's response, in the form in which clients write it into `webAuthnOutcome` (protocol/journey.md section 2.7).
struct WebAuthnAnswer: Sendable {
    enum Failure: Error, Sendable, Hashable {
        case unsupported
        /// The name of the client's error.
        case client(String)
        case malformed
    }

    let clientData: [UInt8]
    /// The texts after the client data.
    let fields: [String]

    init(_ outcome: String) throws(Failure) {
        var text = outcome
        if text.hasPrefix("{"), let json = try? JSON.value(of: text.utf8), let legacy = json["legacyData"]?.string {
            text = legacy
        }
        if text == "unsupported" { throw .unsupported }
        var fields = text.split(separator: "::", omittingEmptySubsequences: false).map(String.init)
        if fields[0] == "ERROR" {
            throw .client(fields.count > 1 ? String(fields[1].prefix { $0 != ":" }) : "")
        }
        guard fields.count >= 3 else { throw .malformed }
        clientData = Array(fields.removeFirst().utf8)
        self.fields = fields
    }

    /// Returns a field's bytes, which are written as comma-separated signed numbers.
    func numbers(_ index: Int) -> [UInt8]? {
        guard fields.indices.contains(index) else { return nil }
        let numbers = fields[index].split(separator: ",").map { Int8($0.trimming(" ")) }
        return numbers.contains(nil) || numbers.isEmpty ? nil : numbers.compactMap { $0.map { UInt8(bitPattern: $0) } }
    }

    func text(_ index: Int) -> String? { fields.indices.contains(index) ? fields[index] : nil }

    /// Returns true when the client data have this type and this challenge, and come from an origin of the relying party.
    func isFor(_ type: String, _ challenge: [UInt8], _ party: RelyingParty) -> Bool {
        guard let data = try? JSON.value(of: clientData), data["type"]?.string == type,
            let text = data["challenge"]?.string, let answered = try? Base64.decode(text),
            ConstantTime.areEqual(answered, challenge), let origin = data["origin"]?.string
        else { return false }
        return party.owns(origin)
    }
}

/// The server as a WebAuthn relying party.
struct RelyingParty: Sendable, Hashable {
    let id: String
    let name: String
    /// The origins that responses may come from: that of the server's own pages, and those that the configuration names.
    let origins: [String]

    /// Creates the relying party.
    ///
    /// The server's configuration supplies the values that are nil.
    init(_ time: RequestTime, domain: String? = nil, name: String? = nil, otherOrigins: [String] = []) {
        let base = try? Endpoint(unchecked: time.baseURL)
        let host = base?.host ?? "localhost"
        // An IP address isn't a valid relying party ID, so browsers use passkeys at `localhost` instead.
        let isAddress = host == "127.0.0.1" || host.contains(":")
        let pageHost = isAddress ? "localhost" : host
        id = domain ?? time.configuration.webAuthnRelyingParty ?? pageHost
        self.name = name ?? time.configuration.issuer
        origins = (base.map { [$0.origin(at: pageHost)] } ?? []) + time.configuration.webAuthnOrigins + otherOrigins
    }

    /// Returns true for exactly one of the ``origins`` (WebAuthn section 13.4.9).
    ///
    /// Another port, another scheme and a subdomain are other origins, because their pages may belong to another party.
    func owns(_ origin: String) -> Bool { origins.contains(origin) }
}

/// The authenticator data (WebAuthn section 6.1).
struct AuthenticatorData: Sendable {
    let counter: UInt32
    private let flags: UInt8
    private let partyHash: [UInt8]
    /// The attested credential: its ID and its public key.
    let credential: (id: [UInt8], key: DevicePublicKey)?

    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 37 else { return nil }
        partyHash = Array(bytes[..<32])
        flags = bytes[32]
        counter = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        guard flags & 0x40 != 0 else {
            credential = nil
            return
        }
        guard bytes.count >= 55 else { return nil }
        let length = Int(bytes[53]) << 8 | Int(bytes[54])
        guard bytes.count > 55 + length else { return nil }
        var rest = bytes[(55 + length)...]
        guard let key = CBOR.read(&rest), let key = DevicePublicKey(cose: key) else { return nil }
        credential = (Array(bytes[55..<(55 + length)]), key)
    }

    /// Returns true when the data are for this party and a user was present, and was verified if `verified` requires it.
    func isValid(for party: RelyingParty, verified: Bool) -> Bool {
        partyHash == Array(SHA256.hash(data: Array(party.id.utf8))) && flags & 0x01 != 0 && (!verified || flags & 0x04 != 0)
    }
}

/// A new credential of an authenticator.
struct NewCredential: Sendable {
    let id: [UInt8]
    let key: DevicePublicKey
    let counter: UInt32
    /// The name that the user chose; nil for the default.
    let name: String?

    func device(at now: Date) -> OtherDevice {
        OtherDevice(
            kind: .webauthn, resourceID: RandomID.uuid(), name: String((name ?? "New Security Key").prefix(256)),
            registeredAt: now, lastUsedAt: now,
            details: ["credentialId": .string(Base64.encode(id, as: .url)), "signCount": .integer(Int64(counter))], key: key)
    }
}

extension WebAuthnAnswer {
    /// Returns the credential of a registration (WebAuthn section 7.1).
    ///
    /// It does not verify the attestation statement.
    /// - Parameters:
    ///   - challenge: The challenge of the registration.
    ///   - party: The relying party.
    ///   - requiresVerification: True when the authenticator must have verified the user.
    /// - Returns: The credential; nil unless the answer is valid.
    func newCredential(_ challenge: [UInt8], _ party: RelyingParty, requiresVerification: Bool) -> NewCredential? {
        guard isFor("webauthn.create", challenge, party), let attestation = numbers(0) else { return nil }
        var rest = attestation[...]
        guard let bytes = CBOR.read(&rest)?[.text("authData")]?.bytes, let data = AuthenticatorData(bytes),
            data.isValid(for: party, verified: requiresVerification), let credential = data.credential
        else { return nil }
        return NewCredential(id: credential.id, key: credential.key, counter: data.counter, name: text(2))
    }

    /// The user that the authenticator's user handle names; nil when the answer has no user handle.
    ///
    /// The handle of a new passkey is the user's name in Base64, and some clients decode it.
    /// - Parameters:
    ///   - realm: The realm of the journey.
    ///   - devices: Returns the passkeys of a user.
    /// - Returns: The user that has the passkey of the answer; nil if no such user has it.
    /// - Throws: The error of `devices`.
    func user(in realm: RealmPath, devices: (UserKey) throws -> [OtherDevice]) rethrows -> UserKey? {
        guard let handle = text(3), !handle.isEmpty, let id = text(2).flatMap({ try? Base64.decode($0) }) else { return nil }
        let decoded = (try? Base64.decode(handle)).flatMap { String(validating: $0, as: UTF8.self) }
        return try [decoded, handle].compactMap { $0 }.map { UserKey(realm: realm, name: $0) }.first { user in
            try devices(user).contains { $0.credentialID == id }
        }
    }

    /// Returns the device that signed an assertion, with its new counter (WebAuthn section 7.2).
    /// - Parameters:
    ///   - devices: The user's devices.
    ///   - challenge: The challenge of the authentication.
    ///   - party: The relying party.
    ///   - requiresVerification: True when the authenticator must have verified the user.
    /// - Returns: The device; nil unless the answer is valid.
    func signer(
        among devices: [OtherDevice], _ challenge: [UInt8], _ party: RelyingParty, requiresVerification: Bool
    ) -> OtherDevice? {
        guard isFor("webauthn.get", challenge, party), let bytes = numbers(0), let signature = numbers(1),
            let id = text(2).flatMap({ try? Base64.decode($0) }), var device = devices.first(where: { $0.credentialID == id }),
            let data = AuthenticatorData(bytes), data.isValid(for: party, verified: requiresVerification),
            device.key?.accepts(webAuthnSignature: signature, of: bytes + Array(SHA256.hash(data: clientData))) == true
        else { return nil }
        // A counter that does not increase indicates a cloned authenticator (WebAuthn section 6.1.1). Two zeros mean that the
        // authenticator has no counter.
        let last = device.details["signCount"]?.lenientInteger ?? 0
        guard data.counter == 0 && last == 0 || Int64(data.counter) > last else { return nil }
        device.details["signCount"] = .integer(Int64(data.counter))
        return device
    }
}

extension WebAuthnAnswer.Failure {
    /// The outcome of a WebAuthn node.
    var outcome: NodeOutcome {
        switch self {
        case .unsupported: .unsupported
        case .malformed: .failure
        case .client: .error
        }
    }
}

extension OtherDevice {
    /// The id of the WebAuthn credential; nil for other devices.
    var credentialID: [UInt8]? { details["credentialId"]?.string.flatMap { try? Base64.decode($0) } }
}
