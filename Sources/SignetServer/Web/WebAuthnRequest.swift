import SignetCore

/// The WebAuthn request of a step, converted from any of AM's three formats into the one format that the page's script reads
/// (protocol/journey.md section 2.7).
struct WebAuthnRequest: Sendable, Hashable {
    private let options: [String: JSONValue]
    /// The name of the input for the result.
    let input: String

    /// True when the step asks for a new passkey.
    var createsPasskey: Bool { options["creates"] == .bool(true) }
    /// True when the passkey identifies the user, because the request names none.
    var findsUser: Bool { !createsPasskey && options["credentials"]?.array?.isEmpty != false }
    /// True when the browser offers the passkeys in the autofill of a field.
    var isOfferedInAutofill: Bool { !createsPasskey && options["mediation"] == .string("conditional") }

    /// The attributes of the form element.
    var attributes: Markup.Attributes { ["data-passkey": JSON.text(of: .object(options)), "data-outcome": input] }

    /// Reads the request from a step; nil when the step asks for no passkey.
    init?(_ step: JourneyStep, scripts: [String]) {
        guard let field = step.callbacks.first(where: { $0.output("id")?.string == "webAuthnOutcome" })?.input?.first else {
            return nil
        }
        input = field.name
        let data = step.callbacks.lazy.filter { $0.type == "MetadataCallback" }.compactMap { $0.output("data") }.first {
            $0["_type"]?.string == "WebAuthn" || $0["_action"]?.string?.hasPrefix("webauthn") == true || $0["challenge"] != nil
        }
        if let data {
            options = Self.options(of: data)
        } else if let script = scripts.first(where: { $0.contains("challenge") }) {
            options = Self.options(ofScript: script)
        } else {
            return nil
        }
    }

    // MARK: Metadata

    private static func options(of data: JSONValue) -> [String: JSONValue] {
        let action = data["_action"]?.string
        let isNew = action == nil ? data["pubKeyCredParams"] != nil : action == "webauthn_registration"
        let known = isNew ? "excludeCredentials" : "allowCredentials"
        let legacy = data[known]?.string ?? data["acceptableCredentials"]?.string ?? ""
        let ids = data["_\(known)"]?.array.map { $0.map { $0["id"] ?? .null } } ?? ids(in: legacy)
        var options: [String: JSONValue] = [
            "creates": .bool(isNew), "challenge": .array(numbers(ofBase64: data["challenge"]?.string ?? "")),
            "timeout": .integer(data["timeout"]?.lenientInteger ?? data["timeout"]?.string.flatMap { Int64($0) } ?? 60_000),
            "credentials": .array(ids), "wrapped": .bool(data["supportsJsonResponse"]?.bool ?? false),
            "userVerification": .string(data["userVerification"]?.string ?? "preferred"),
        ]
        options["relyingParty"] =
            data["_relyingPartyId"] ?? quoted(in: data["relyingPartyId"]?.string ?? "", after: "d:").map { .string($0) }
        options["mediation"] = data["mediation"]
        guard isNew else { return options }
        let algorithms = data["_pubKeyCredParams"] ?? parsed(data["pubKeyCredParams"])
        options["algorithms"] = .array((algorithms?.array ?? []).compactMap { $0["alg"] })
        options["selection"] = data["_authenticatorSelection"] ?? parsed(data["authenticatorSelection"])
        options["attestation"] = data["attestationPreference"]
        options["relyingPartyName"] = data["relyingPartyName"]
        options["userName"] = data["userName"]
        options["displayName"] = data["displayName"]
        options["userHandle"] = .string(data["userId"]?.string ?? "")
        return options
    }

    private static func parsed(_ value: JSONValue?) -> JSONValue? {
        value?.string.flatMap { try? JSON.value(of: $0.utf8) }
    }

    // MARK: Scripts

    /// Reads the options from the JavaScript that AM 6.5 sends.
    ///
    /// The script is parsed but never run.
    private static func options(ofScript script: String) -> [String: JSONValue] {
        let isNew = script.contains("pubKeyCredParams")
        var options: [String: JSONValue] = [
            "creates": .bool(isNew), "challenge": .array(numbers(in: script, after: "challenge:").map { .integer($0) }),
            "timeout": .integer(60_000), "wrapped": .bool(false), "credentials": .array(ids(in: script)),
            "userVerification": .string(quoted(in: script, after: "serVerification") ?? "preferred"),
        ]
        let party = quoted(in: script, after: isNew ? "rp: { id:" : "rpId:")
        options["relyingParty"] = party.map { .string($0) }
        options["mediation"] = quoted(in: script, after: "mediation:").map { .string($0) }
        guard isNew else { return options }
        let user = script.firstRange(of: "user:").map { String(script[$0.upperBound...]) } ?? ""
        options["algorithms"] = .array(
            script.split(separator: "\"alg\":").dropFirst().compactMap { part in
                Int64(part.trimming(" ").prefix { $0 == "-" || $0.isNumber }).map { .integer($0) }
            })
        options["selection"] = object(in: script, after: "authenticatorSelection:")
        options["attestation"] = quoted(in: script, after: "attestation:").map { .string($0) }
        options["relyingPartyName"] = quoted(in: script, after: "name:").map { .string($0) }
        options["userHandle"] = .string(quoted(in: user, after: "from(") ?? "")
        options["userName"] = quoted(in: user, after: "name:").map { .string($0) }
        options["displayName"] = quoted(in: user, after: "displayName:").map { .string($0) }
        return options
    }

    /// Returns the first string in double quotes after a marker, with its escapes resolved.
    private static func quoted(in text: String, after mark: String) -> String? {
        guard let start = text.firstRange(of: mark)?.upperBound, let open = text[start...].firstIndex(of: "\"") else {
            return nil
        }
        var end = text.index(after: open)
        while end < text.endIndex, text[end] != "\"" {
            if text[end] == "\\" { end = text.index(after: end) }
            if end < text.endIndex { end = text.index(after: end) }
        }
        guard end < text.endIndex else { return nil }
        return (try? JSON.value(of: text[open...end].utf8))?.string
    }

    /// Returns the JSON object after a marker, which contains no other object.
    private static func object(in text: String, after mark: String) -> JSONValue? {
        guard let start = text.firstRange(of: mark)?.upperBound, let open = text[start...].firstIndex(of: "{"),
            let close = text[open...].firstIndex(of: "}")
        else { return nil }
        return try? JSON.value(of: text[open...close].utf8)
    }

    /// Returns the numbers in the first brackets after a marker.
    private static func numbers(in text: String, after mark: String) -> [Int64] {
        guard let start = text.firstRange(of: mark)?.upperBound, let open = text[start...].firstIndex(of: "["),
            let close = text[open...].firstIndex(of: "]")
        else { return [] }
        return text[open..<close].dropFirst().split(separator: ",").compactMap { Int64($0.trimming(" ")) }
    }

    /// Returns the ids in a list of `{ "type": "public-key", "id": new Int8Array([…]).buffer }`.
    private static func ids(in text: String) -> [JSONValue] {
        text.split(separator: "public-key").dropFirst().compactMap { part in
            guard part.contains("\"id\"") else { return nil }
            return .array(numbers(in: String(part), after: "\"id\"").map { .integer($0) })
        }
    }

    private static func numbers(ofBase64 text: String) -> [JSONValue] {
        ((try? Base64.decode(text)) ?? []).map { .integer(Int64(Int8(bitPattern: $0))) }
    }
}
