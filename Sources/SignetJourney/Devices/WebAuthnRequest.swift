public import SignetCore

extension JourneyStep {
    /// True when the step asks for a passkey in the form of any server.
    ///
    /// Its `PasswordCallback`s are then not for the password of an account.
    public var asksForPasskey: Bool {
        WebAuthnRequest(self) != nil || webAuthnModuleOptions != nil
            || callbacks(HiddenValueCallback.self).contains { $0.id == WebAuthnOutcome.callbackID }
    }

    /// The WebAuthn options of a step of OpenAM's WebAuthn modules; nil for all other steps.
    ///
    /// OpenAM sends the options as JSON in a text, with a `PasswordCallback` for the credential as JSON (protocol/journey.md
    /// section 2.7). Signet doesn't support these modules. Never enter an account's password into that callback, because OpenAM
    /// writes its value to the debug log.
    public var webAuthnModuleOptions: JSONValue? {
        guard callback(PasswordCallback.type) != nil else { return nil }
        return callbacks(TextOutputCallback.self).lazy.compactMap { text in
            guard let options = try? JSON.value(of: text.message.utf8), options.object?["challenge"] != nil else { return nil }
            return options
        }.first
    }
}

/// The request of a step to create a passkey or to sign with one (protocol/journey.md section 2.7).
///
/// Servers write it in three forms, and a step may contain two of them. The newest form takes precedence.
public enum WebAuthnRequest: Sendable, Hashable {
    /// A request to create a passkey.
    case registration(WebAuthnRegistration)
    /// A request to sign with a passkey.
    case authentication(WebAuthnAuthentication)
}

/// A request to create a passkey.
public struct WebAuthnRegistration: Sendable, Hashable {
    /// The challenge that the passkey signs.
    public let challenge: [UInt8]
    /// The domain of the relying party, for which the passkey is valid.
    ///
    /// Nil when the server leaves it to the web page. An app has no web page and uses its own domain.
    public let relyingPartyID: String?
    /// The name of the relying party, for display.
    public let relyingPartyName: String
    /// The ID of the user that the passkey will belong to.
    public let userID: [UInt8]
    /// The user's name on the server.
    public let userName: String
    /// The user's name, for display.
    public let displayName: String
    /// The COSE numbers of the key algorithms that the server accepts, the preferred one first: -7 for ES256, -257 for RS256.
    public let algorithms: [Int]
    /// The attestation that the server requests: `none`, `indirect` or `direct`.
    public let attestation: String
    /// The requirement for user verification.
    public let userVerification: UserVerification
    /// The requirement for a discoverable credential, which the authenticator finds without an ID from the server: `required`,
    /// `preferred` or `discouraged`; nil when the server states none.
    public let residentKey: String?
    /// The kind of authenticator: `platform` or `cross-platform`; nil for any kind.
    public let attachment: String?
    /// The existing passkeys.
    ///
    /// An authenticator that holds one of them must not create another one.
    public let excludedCredentials: [[UInt8]]
    /// The time that the user has to respond.
    public let timeout: Duration
    /// True when the response may be JSON, which also contains the kind of authenticator.
    public let acceptsJSON: Bool
}

/// A request to sign with a passkey.
public struct WebAuthnAuthentication: Sendable, Hashable {
    /// The challenge that the passkey signs.
    public let challenge: [UInt8]
    /// The domain of the relying party, for which the passkey is valid.
    ///
    /// Nil when the server leaves it to the web page. An app has no web page and uses its own domain.
    public let relyingPartyID: String?
    /// The passkeys that may sign; empty when any passkey is acceptable.
    public let allowedCredentials: [[UInt8]]
    /// The requirement for user verification.
    public let userVerification: UserVerification
    /// The time that the user has to respond.
    public let timeout: Duration
    /// True when the response may be JSON, which also contains the kind of authenticator.
    public let acceptsJSON: Bool
}

/// The requirement for user verification.
public enum UserVerification: String, Sendable, Hashable, CaseIterable {
    /// The user must be verified by a fingerprint, a face or a PIN. Without verification, the request fails.
    case required
    /// The user is verified when the authenticator supports it.
    case preferred
    /// The presence of the user, for example a touch, is sufficient.
    case discouraged
}

extension WebAuthnRequest {
    /// Reads the passkey request of a step; nil when the step contains no request or one that can't be read.
    public init?(_ step: JourneyStep) {
        let scripts = step.callbacks(TextOutputCallback.self).filter { $0.messageType == .script }.map(\.message)
        let takesOutcome = step.callbacks(HiddenValueCallback.self).contains { $0.id == WebAuthnOutcome.callbackID }
        let request =
            step.callbacks(MetadataCallback.self).lazy.compactMap { WebAuthnRequest(metadata: $0.data) }.first
            ?? (takesOutcome ? scripts.lazy.compactMap { WebAuthnRequest(script: $0) }.first : nil)
        guard let request else { return nil }
        self = request
    }

    init?(metadata: JSONValue) {
        guard let data = metadata.object, let challenge = data["challenge"]?.string.flatMap({ try? Base64.decode($0) }) else {
            return nil
        }
        let isRegistration: Bool
        switch data["_action"]?.string {
        case "webauthn_registration": isRegistration = true
        case "webauthn_authentication": isRegistration = false
        case nil where data["_type"]?.string == "WebAuthn" || data["relyingPartyId"] != nil || data["_relyingPartyId"] != nil:
            isRegistration = data["pubKeyCredParams"] != nil || data["_pubKeyCredParams"] != nil
        default: return nil
        }
        let request =
            isRegistration
            ? WebAuthnRegistration(challenge, data).map { WebAuthnRequest.registration($0) }
            : WebAuthnAuthentication(challenge, data).map { WebAuthnRequest.authentication($0) }
        guard let request else { return nil }
        self = request
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
        acceptsJSON = data["supportsJsonResponse"]?.lenientBool ?? false
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
        residentKey =
            selection["residentKey"]?.string ?? (selection["requireResidentKey"]?.lenientBool == true ? "required" : nil)
        attachment = selection["authenticatorAttachment"]?.string
        excludedCredentials = excluded
        timeout = WebAuthnMembers.timeout(data["timeout"])
        acceptsJSON = data["supportsJsonResponse"]?.lenientBool ?? false
    }
}

/// Readers for the members of a request.
///
/// Each member has a newer form (`_name`), and an older form that is a piece of JavaScript.
private enum WebAuthnMembers {
    /// Reads the domain, from `example.com` or from the script text `rpId: "example.com",`.
    static func relyingParty(_ data: [String: JSONValue]) -> String? {
        if let plain = data["_relyingPartyId"]?.string, !plain.isEmpty { return plain }
        guard let text = data["relyingPartyId"]?.string, !text.isEmpty else { return nil }
        return text.contains(":") ? ScriptText(text).strings.first : text
    }

    /// Reads the listed credentials; nil when one of them can't be read.
    ///
    /// To skip a credential would change the request: an empty list allows every passkey.
    static func credentials(_ data: [String: JSONValue], _ names: [String]) -> [[UInt8]]? {
        for name in names {
            guard let listed = data["_\(name)"], listed != .null else { continue }
            let read = listed.array?.compactMap { $0["id"]?.array.flatMap { bytes($0) } }
            return read?.count == listed.array?.count ? read : nil
        }
        for name in names {
            guard let written = data[name], written != .null else { continue }
            guard let text = written.string else { return nil }
            if text.trimmingWhitespace().isEmpty { continue }
            // AM 7.0 writes excluded credentials without the brackets of the list.
            let list = text.drop { $0 != "[" && $0 != "{" }
            return list.hasPrefix("{") ? ScriptText("[\(list)]").credentials : ScriptText(list).credentials
        }
        return []
    }

    static func algorithms(_ data: [String: JSONValue]) -> [Int] {
        let listed =
            data["_pubKeyCredParams"]?.array ?? (try? JSON.value(of: (data["pubKeyCredParams"]?.string ?? "").utf8))?.array
        let numbers = listed?.compactMap { $0["alg"]?.lenientInteger.flatMap { Int(exactly: $0) } } ?? []
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

    /// Reads a time in milliseconds, from a string or a number.
    static func timeout(_ value: JSONValue?) -> Duration {
        guard let milliseconds = value?.lenientInteger, milliseconds > 0 else { return .seconds(60) }
        return .milliseconds(milliseconds)
    }

    /// Reads bytes from numbers between -128 and 127, or between 0 and 255 in other servers.
    static func bytes(_ numbers: [JSONValue]) -> [UInt8]? {
        let bytes = numbers.compactMap {
            $0.lenientInteger.flatMap { (-128...255).contains($0) ? UInt8(truncatingIfNeeded: $0) : nil }
        }
        return bytes.count == numbers.count && !bytes.isEmpty ? bytes : nil
    }
}

// MARK: Scripts

extension WebAuthnRequest {
    /// Reads the script for browsers that AM 6.5 sends, and that newer servers send when they are configured to do so.
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
