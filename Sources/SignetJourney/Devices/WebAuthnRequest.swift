public import SignetCore

extension JourneyStep {
    /// Whether the step asks for a passkey in a form of any server, so that its `PasswordCallback`s are not for the password of an account.
    public var asksForPasskey: Bool {
        WebAuthnRequest(self) != nil || webAuthnModuleOptions != nil
            || callbacks(HiddenValueCallback.self).contains { $0.id == WebAuthnOutcome.callbackID }
    }

    /// The WebAuthn options of a step of OpenAM's WebAuthn modules: JSON in a text beside a `PasswordCallback` that takes the credential as
    /// JSON (protocol/journey.md section 2.7). Nil for all other steps. Signet has no answer to it. An account's password must not
    /// go into that callback: OpenAM writes its value to the debug log.
    public var webAuthnModuleOptions: JSONValue? {
        guard callback(PasswordCallback.type) != nil else { return nil }
        return callbacks(TextOutputCallback.self).lazy.compactMap { text in
            guard let options = try? JSON.value(of: text.message.utf8), options.object?["challenge"] != nil else { return nil }
            return options
        }.first
    }
}

/// What a step asks a passkey for: to make one, or to sign with one (protocol/journey.md section 2.7). Servers have written it in
/// three ways, and a step may carry two of them; the newest counts.
public enum WebAuthnRequest: Sendable, Hashable {
    /// To make a passkey.
    case registration(WebAuthnRegistration)
    /// To sign with one.
    case authentication(WebAuthnAuthentication)
}

/// A passkey is to be made.
public struct WebAuthnRegistration: Sendable, Hashable {
    /// What the passkey signs.
    public let challenge: [UInt8]
    /// For whom the passkey is good: a domain. Nil when the server leaves it to the page, which an app does not have: it says its own.
    public let relyingPartyID: String?
    /// The name of the same, to show.
    public let relyingPartyName: String
    /// Whose passkey it is going to be.
    public let userID: [UInt8]
    /// The person's name on the server.
    public let userName: String
    /// The person's name, to show.
    public let displayName: String
    /// The kinds of keys that the server can check, the first preferred: COSE numbers, -7 for ES256, -257 for RS256.
    public let algorithms: [Int]
    /// What the device is to say of itself: `none`, `indirect` or `direct`.
    public let attestation: String
    /// How the person is to be checked.
    public let userVerification: UserVerification
    /// Whether the passkey must be found without the server's naming it: `required`, `preferred` or `discouraged`; nil for no wish.
    public let residentKey: String?
    /// `platform` or `cross-platform`; nil for either.
    public let attachment: String?
    /// The passkeys that there are already: a device that holds one makes no second.
    public let excludedCredentials: [[UInt8]]
    /// How long the person has.
    public let timeout: Duration
    /// Whether the answer may be JSON, which also says what kind of device it was.
    public let acceptsJSON: Bool
}

/// A passkey is to sign.
public struct WebAuthnAuthentication: Sendable, Hashable {
    /// What the passkey signs.
    public let challenge: [UInt8]
    /// For whom the passkey is good: a domain. Nil when the server leaves it to the page, which an app does not have: it says its own.
    public let relyingPartyID: String?
    /// The passkeys that may sign; empty when any will do.
    public let allowedCredentials: [[UInt8]]
    /// How the person is to be checked.
    public let userVerification: UserVerification
    /// How long the person has.
    public let timeout: Duration
    /// Whether the answer may be JSON, which also says what kind of device it was.
    public let acceptsJSON: Bool
}

/// How the person is to be checked.
public enum UserVerification: String, Sendable, Hashable, CaseIterable {
    /// By a finger, a face or a PIN; without it there is no answer.
    case required
    /// If the device can.
    case preferred
    /// Touching is enough.
    case discouraged
}

extension WebAuthnRequest {
    /// The passkey that a step asks for; nil when it asks for none, or what it asks cannot be read.
    public init?(_ step: JourneyStep) {
        for data in step.callbacks(MetadataCallback.self).map(\.data) {
            if let request = WebAuthnRequest(metadata: data) {
                self = request
                return
            }
        }
        let scripts = step.callbacks(TextOutputCallback.self).filter { $0.messageType == .script }.map(\.message)
        guard step.callbacks(HiddenValueCallback.self).contains(where: { $0.id == WebAuthnOutcome.callbackID }),
            let request = scripts.lazy.compactMap({ WebAuthnRequest(script: $0) }).first
        else { return nil }
        self = request
    }

    init?(metadata: JSONValue) {
        guard let data = metadata.object, let challenge = data["challenge"]?.string.flatMap({ try? Base64.decode($0) }) else {
            return nil
        }
        switch data["_action"]?.string {
        case "webauthn_registration": break
        case "webauthn_authentication":
            guard let authentication = WebAuthnAuthentication(challenge, data) else { return nil }
            self = .authentication(authentication)
            return
        case nil where data["_type"]?.string == "WebAuthn" || data["relyingPartyId"] != nil || data["_relyingPartyId"] != nil:
            guard data["pubKeyCredParams"] != nil || data["_pubKeyCredParams"] != nil else {
                guard let authentication = WebAuthnAuthentication(challenge, data) else { return nil }
                self = .authentication(authentication)
                return
            }
        default: return nil
        }
        guard let registration = WebAuthnRegistration(challenge, data) else { return nil }
        self = .registration(registration)
    }
}

extension WebAuthnAuthentication {
    fileprivate init?(_ challenge: [UInt8], _ data: [String: JSONValue]) {
        guard let allowed = WebAuthnMembers.credentials(data, ["allowCredentials", "acceptableCredentials"]) else { return nil }
        self.challenge = challenge
        relyingPartyID = WebAuthnMembers.relyingParty(data)
        allowedCredentials = allowed
        userVerification = WebAuthnMembers.verification(data["userVerification"])
        timeout = WebAuthnMembers.timeout(data["timeout"])
        acceptsJSON = data["supportsJsonResponse"]?.truth ?? false
    }
}

extension WebAuthnRegistration {
    fileprivate init?(_ challenge: [UInt8], _ data: [String: JSONValue]) {
        guard let userID = data["userId"]?.string.flatMap({ try? Base64.decode($0) }),
            let excluded = WebAuthnMembers.credentials(data, ["excludeCredentials"])
        else { return nil }
        let selection = WebAuthnMembers.selection(data)
        self.challenge = challenge
        self.userID = userID
        relyingPartyID = WebAuthnMembers.relyingParty(data)
        relyingPartyName = data["relyingPartyName"]?.string ?? ""
        userName = data["userName"]?.string ?? ""
        displayName = data["displayName"]?.string ?? ""
        algorithms = WebAuthnMembers.algorithms(data)
        attestation = data["attestationPreference"]?.string ?? "none"
        userVerification = WebAuthnMembers.verification(selection["userVerification"] ?? data["userVerification"])
        residentKey = selection["residentKey"]?.string ?? (selection["requireResidentKey"]?.truth == true ? "required" : nil)
        attachment = selection["authenticatorAttachment"]?.string
        excludedCredentials = excluded
        timeout = WebAuthnMembers.timeout(data["timeout"])
        acceptsJSON = data["supportsJsonResponse"]?.truth ?? false
    }
}

/// The members of a request, each in its newest form (`_name`) or in the form before, which is a piece of JavaScript.
private enum WebAuthnMembers {
    /// `example.com`, or `rpId: "example.com",` as in a script.
    static func relyingParty(_ data: [String: JSONValue]) -> String? {
        if let plain = data["_relyingPartyId"]?.string, !plain.isEmpty { return plain }
        guard let text = data["relyingPartyId"]?.string, !text.isEmpty else { return nil }
        return text.contains(":") ? ScriptText(text).strings.first : text
    }

    /// The credentials that are listed; nil when one of them cannot be read. A list that lacks one says something else: without
    /// any, every passkey would do.
    static func credentials(_ data: [String: JSONValue], _ names: [String]) -> [[UInt8]]? {
        for name in names {
            guard let listed = data["_\(name)"], listed != .null else { continue }
            let read = listed.array?.compactMap { $0["id"]?.array.flatMap { bytes($0) } }
            return read?.count == listed.array?.count ? read : nil
        }
        for name in names {
            guard let written = data[name], written != .null else { continue }
            guard let text = written.string else { return nil }
            if !text.trimmingWhitespace().isEmpty { return ScriptText(text.drop { $0 != "[" }).credentials }
        }
        return []
    }

    static func algorithms(_ data: [String: JSONValue]) -> [Int] {
        let listed =
            data["_pubKeyCredParams"]?.array ?? (try? JSON.value(of: (data["pubKeyCredParams"]?.string ?? "").utf8))?.array
        let numbers = listed?.compactMap { $0["alg"]?.wholeNumber.flatMap { Int(exactly: $0) } } ?? []
        if !numbers.isEmpty { return numbers }
        let written = ScriptText(data["pubKeyCredParams"]?.string ?? "").numbers(after: "alg")
        return written.isEmpty ? [-7] : written
    }

    static func selection(_ data: [String: JSONValue]) -> [String: JSONValue] {
        data["_authenticatorSelection"]?.object
            ?? (try? JSON.value(of: (data["authenticatorSelection"]?.string ?? "").utf8))?.object ?? [:]
    }

    static func verification(_ value: JSONValue?) -> UserVerification {
        value?.string.flatMap { UserVerification(rawValue: $0) } ?? .preferred
    }

    /// Milliseconds, as a text or a number.
    static func timeout(_ value: JSONValue?) -> Duration {
        guard let milliseconds = value?.wholeNumber, milliseconds > 0 else { return .seconds(60) }
        return .milliseconds(milliseconds)
    }

    /// Numbers from -128 to 127; a server that counts from 0 to 255 means the same.
    static func bytes(_ numbers: [JSONValue]) -> [UInt8]? {
        let bytes = numbers.compactMap {
            $0.wholeNumber.flatMap { (-128...255).contains($0) ? UInt8(truncatingIfNeeded: $0) : nil }
        }
        return bytes.count == numbers.count && !bytes.isEmpty ? bytes : nil
    }
}

// MARK: Scripts

extension WebAuthnRequest {
    /// Reads the script that AM 6.5 sends for browsers, and newer servers where they are told to.
    init?(script: String) {
        let text = ScriptText(script)
        guard let challenge = text.byteArray(after: "challenge") else { return nil }
        let timeout = text.numbers(after: "timeout").first.map { Duration.milliseconds(max(1, $0)) } ?? .seconds(60)
        let verification = text.string(after: "userVerification").flatMap { UserVerification(rawValue: $0) } ?? .preferred
        guard let parameters = text.rest(after: "pubKeyCredParams") else {
            let listed = text.rest(after: "acceptableCredentials") ?? text.rest(after: "allowCredentials")
            guard let allowed = listed.map({ ScriptText($0).credentials }) ?? [] else { return nil }
            self = .authentication(
                WebAuthnAuthentication(
                    challenge: challenge, relyingPartyID: text.string(after: "rpId"),
                    allowedCredentials: allowed,
                    userVerification: verification, timeout: timeout, acceptsJSON: false))
            return
        }
        let party = text.rest(after: "rp").map { ScriptText($0.upToClosing) }
        let user = text.rest(after: "user").map { ScriptText($0.upToClosing) }
        guard let userID = user?.bytes(after: "id"),
            let excluded = text.rest(after: "excludeCredentials").map({ ScriptText($0).credentials }) ?? []
        else { return nil }
        let algorithms = ScriptText(parameters.upToClosing).numbers(after: "alg")
        self = .registration(
            WebAuthnRegistration(
                challenge: challenge, relyingPartyID: party?.string(after: "id"),
                relyingPartyName: party?.string(after: "name") ?? "", userID: userID,
                userName: user?.string(after: "name") ?? "", displayName: user?.string(after: "displayName") ?? "",
                algorithms: algorithms.isEmpty ? [-7] : algorithms, attestation: text.string(after: "attestation") ?? "none",
                userVerification: verification, residentKey: text.flag(after: "requireResidentKey") ? "required" : nil,
                attachment: text.string(after: "authenticatorAttachment"),
                excludedCredentials: excluded, timeout: timeout, acceptsJSON: false))
    }
}
