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

/// The algorithms of the keys of passkeys that the server verifies, by their names in JOSE.
enum WebAuthnAlgorithm: String, Sendable, Hashable, CaseIterable {
    case es256 = "ES256"
    case rs256 = "RS256"
    case eddsa = "EdDSA"

    /// The algorithms that a node offers unless its properties name others: those of AM's pages.
    static let offered: [WebAuthnAlgorithm] = [.es256, .rs256]

    /// The identifier in COSE (RFC 9053 sections 2.1 and 2.2, RFC 8812 section 2).
    var identifier: Int64 {
        switch self {
        case .es256: -7
        case .rs256: -257
        case .eddsa: -8
        }
    }
}

/// The settings that both WebAuthn nodes share: the relying party and the requirements for authenticators.
struct WebAuthnStyle: Sendable {
    var form = WebAuthnForm.current
    /// `required`, `preferred` or `discouraged`.
    var userVerification = "preferred"
    /// True when the passkey identifies the user (a discoverable credential), so that no name is needed.
    var requiresResidentKey = false
    /// The timeout in seconds.
    var timeout = 60
    /// The domain; nil for the server's.
    var domain: String?
    /// The name of the relying party; nil for the server's.
    var partyName: String?
    /// The origins of apps that are accepted in addition to the server's origin.
    var origins: [String] = []

    var requiresVerification: Bool { userVerification == "required" }

    func party(_ time: RequestTime) -> RelyingParty {
        RelyingParty(time, domain: domain, name: partyName, otherOrigins: origins)
    }
}

extension ConfigurationDecoder {
    /// Decodes the properties that both WebAuthn nodes share.
    mutating func webAuthnStyle(withName: Bool) -> WebAuthnStyle {
        var style = WebAuthnStyle()
        let isScript = bool("asScript", false)
        let isLegacy = bool("legacyMetadata", false)
        if isScript, isLegacy {
            report(.conflict, in: "legacyMetadata", "`legacyMetadata` has no effect with `asScript`: keep one of the two")
        }
        style.form = isScript ? .script : isLegacy ? .legacy : .current
        style.userVerification =
            choice(
                "userVerificationRequirement", "PREFERRED",
                ["REQUIRED": "required", "PREFERRED": "preferred", "DISCOURAGED": "discouraged"]) ?? "preferred"
        style.requiresResidentKey = bool("requiresResidentKey", false)
        style.timeout = integer("timeout", 60, in: 1...86_400)
        style.domain = optionalString("relyingPartyDomain", default: "the server's")
        check("relyingPartyDomain", style.domain, "a domain, such as `example.test`", TextRule.isHost)
        if withName { style.partyName = optionalString("relyingPartyName", default: "the server's `issuer`") }
        style.origins = origins("origins", ofApps: true)
        return style
    }

    /// Decodes the algorithms of new passkeys; at least one.
    mutating func signingAlgorithms() -> [WebAuthnAlgorithm] {
        let name = "acceptedSigningAlgorithms"
        let names = strings(name, WebAuthnAlgorithm.offered.map(\.rawValue))
        let algorithms = names.compactMap { WebAuthnAlgorithm(rawValue: $0) }
        if algorithms.count != names.count || algorithms.isEmpty {
            report(.invalidValue, in: name, "`\(name)` must be a list of `ES256`, `RS256` and `EdDSA`, with at least one of them")
        }
        return algorithms
    }
}

/// The callbacks of a WebAuthn step: the instructions for the authenticator and the input for its answer.
struct WebAuthnStep: Sendable {
    let challenge: [UInt8]
    let party: RelyingParty
    let style: WebAuthnStyle
    /// The ids of the user's credentials.
    let known: [[UInt8]]

    func registration(of user: UserKey, _ algorithms: [WebAuthnAlgorithm]) -> Page {
        let userID = Base64.encode(Array(user.name.utf8), as: .standard)
        let selection: JSONValue = .object([
            "userVerification": .string(style.userVerification), "requireResidentKey": .bool(style.requiresResidentKey),
        ])
        let keys: JSONValue = .array(
            algorithms.map { .object(["type": .string("public-key"), "alg": .integer($0.identifier)]) })
        let keyList = algorithms.map { "{ \"type\": \"public-key\", \"alg\": \($0.identifier) }" }.joined(separator: ", ")
        if style.form == .script {
            return script(
                """
                var publicKey = { challenge: new Int8Array([\(challenge.signedList)]).buffer,
                  rp: { id: "\(party.id)", name: "\(party.name.scriptText)" },
                  user: { id: Uint8Array.from("\(userID)", function (c) { return c.charCodeAt(0) }), \
                name: "\(user.name.scriptText)", displayName: "\(user.name.scriptText)" },
                  pubKeyCredParams: [ \(keyList) ], timeout: \(style.timeout * 1000), attestation: "none",
                  excludeCredentials: [\(legacyList)], authenticatorSelection: \(JSON.text(of: selection)) };
                navigator.credentials.create({ publicKey: publicKey }).then(function (credential) {
                  var answer = credential.response;
                  return Array.of(new TextDecoder().decode(answer.clientDataJSON), new Int8Array(answer.attestationObject),
                    credential.id).join("::");
                })\(Self.scriptEnd)
                """)
        }
        var data = common("webauthn_registration")
        data.merge([
            "relyingPartyName": .string(party.name), "userName": .string(user.name), "displayName": .string(user.name),
            "userId": .string(userID), "attestationPreference": .string("none"),
            "relyingPartyId": .string("id: \"\(party.id)\","), "authenticatorSelection": .string(JSON.text(of: selection)),
            "pubKeyCredParams": .string("[ \(keyList) ]"),
            "excludeCredentials": .string(known.isEmpty ? "" : "excludeCredentials: [\(legacyList)]"),
        ]) { $1 }
        if style.form == .current {
            data.merge([
                "_relyingPartyId": .string(party.id), "_authenticatorSelection": selection, "_pubKeyCredParams": keys,
                "_excludeCredentials": list, "supportsJsonResponse": .bool(true),
            ]) { $1 }
        }
        return metadata(data)
    }

    /// Returns the step of a login.
    ///
    /// Without known credentials it names none, and the authenticator offers those that it finds itself.
    /// - Parameter mediation: The mediation requirement; nil to leave it out.
    /// - Returns: The callbacks.
    func authentication(mediation: String? = nil) -> Page {
        if style.form == .script { return script(authenticationScript(mediation)) }
        var data = common("webauthn_authentication")
        data["relyingPartyId"] = .string("rpId: \"\(party.id)\",")
        data["allowCredentials"] = .string(known.isEmpty ? "" : "allowCredentials: [\(legacyList)]")
        data["acceptableCredentials"] = .string(legacyList)
        data["mediation"] = mediation.map { .string($0) }
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

    private func authenticationScript(_ mediation: String?) -> String {
        let list = known.isEmpty ? "" : "var acceptableCredentials = [\(legacyList)];\n"
        let allowed = known.isEmpty ? "" : ", allowCredentials: acceptableCredentials"
        let request = mediation.map { "{ publicKey: options, mediation: \"\($0)\" }" } ?? "{ publicKey: options }"
        return list + """
            var options = { challenge: new Int8Array([\(challenge.signedList)]).buffer, timeout: \(style.timeout * 1000),
              userVerification: "\(style.userVerification)", rpId: "\(party.id)"\(allowed) };
            navigator.credentials.get(\(request)).then(function (credential) {
              var answer = credential.response;
              var parts = Array.of(new TextDecoder().decode(answer.clientDataJSON), new Int8Array(answer.authenticatorData),
                new Int8Array(answer.signature), credential.id);
              if (answer.userHandle && answer.userHandle.byteLength) parts.push(new TextDecoder().decode(answer.userHandle));
              return parts.join("::");
            })\(Self.scriptEnd)
            """
    }

    /// The end of a script, which writes the outcome into AM's page and sends it.
    ///
    /// The JavaScript SDKs recognize a script by the name `webAuthnOutcome`. They read a list of credentials up to the last
    /// bracket of the script, so this part has no brackets.
    private static let scriptEnd = """
        .catch(function (error) { return "ERROR::" + error.name + ":" + error.message; })
          .then(function (outcome) {
            document.getElementById("webAuthnOutcome").value = outcome;
            document.getElementById("loginButton_0").click();
          });
        """

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
    /// The text escaped for a string literal in a script.
    ///
    /// It cannot end the literal or the script element.
    var scriptText: String {
        String(JSON.text(of: .string(self)).dropFirst().dropLast()).replacing("<", with: "\\u003c")
    }
}
