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
        style.timeout = integer("timeout", 60, in: 1...86_400)
        style.domain = optionalString("relyingPartyDomain", default: "the server's")
        check("relyingPartyDomain", style.domain, "a domain, such as `example.test`", TextRule.isHost)
        if withName { style.partyName = optionalString("relyingPartyName", default: "the server's `issuer`") }
        style.origins = origins("origins", ofApps: true)
        return style
    }
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
    /// The text escaped for a string literal in a script.
    ///
    /// It cannot end the literal or the script element.
    var scriptText: String {
        String(JSON.text(of: .string(self)).dropFirst().dropLast()).replacing("<", with: "\\u003c")
    }
}
