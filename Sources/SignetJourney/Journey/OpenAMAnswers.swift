import SignetCore
import SignetNetwork

// The requests and answers by which OpenAM differs from AM (protocol/journey.md section 8).

extension HTTPRequest {
    /// The query parameter that forces a journey.
    private static let forceParameter = "ForceAuth"
    /// The query parameter that names the session to upgrade.
    private static let upgradeParameter = "sessionUpgradeSSOTokenId"

    /// The session that the query names; nil when it names none.
    var upgradedSession: String? { FormCoding.query(of: url)[Self.upgradeParameter] }

    /// Requires the journey to run even when the session already satisfies it.
    mutating func force() { url = FormCoding.address(url, adding: [(Self.forceParameter, "true")]) }

    /// Names the session of a forced journey in the query.
    /// - Parameter cookieName: The name of the session cookie, and of the field with the session.
    /// - Returns: False when the journey isn't forced, has no session, or names it already.
    @discardableResult
    mutating func upgradeSession(_ cookieName: String) -> Bool {
        let cookie = headers.cookies.first { $0.hasPrefix("\(cookieName)=") }?.dropFirst(cookieName.count + 1)
        guard FormCoding.query(of: url)[Self.forceParameter] == "true", upgradedSession == nil,
            let session = headers[cookieName] ?? cookie.map(String.init)
        else { return false }
        url = FormCoding.address(url, adding: [(Self.upgradeParameter, session)])
        return true
    }

    /// Makes the start of a forced journey that of a plain login without a session.
    ///
    /// With its cookie, a session that goes on would be the result of a login that must ask.
    mutating func removeSession(_ cookieName: String) {
        let address = url.prefix { $0 != "?" }
        let query = url.dropFirst(address.count + 1).split(separator: "&").filter { pair in
            ![Self.forceParameter, Self.upgradeParameter].contains { pair.hasPrefix("\($0)=") }
        }
        url = query.isEmpty ? String(address) : "\(address)?\(query.joined(separator: "&"))"
        let kept = headers.cookies.filter { !$0.hasPrefix("\(cookieName)=") }
        headers = headers.without(cookieName, "Cookie")
        if !kept.isEmpty { headers.append("Cookie", kept.joined(separator: "; ")) }
    }
}

extension HTTPHeaders {
    /// The cookies of all `Cookie` fields, each as `name=value`.
    fileprivate var cookies: [String] {
        all("Cookie").flatMap { $0.split(separator: ";") }.map { $0.trimmingWhitespace() }
    }

    /// Returns these fields and then others, with the cookies of both in one field.
    ///
    /// These cookies replace others with the same name.
    func followed(by others: HTTPHeaders) -> HTTPHeaders {
        let names = Set(cookies.map { $0.prefix { $0 != "=" } })
        let kept = others.cookies.filter { !names.contains($0.prefix { $0 != "=" }) }
        var headers = self
        if !kept.isEmpty { headers.set("Cookie", (cookies + kept).joined(separator: "; ")) }
        for field in others.without("Cookie").fields { headers.append(field.name, field.value) }
        return headers
    }

    fileprivate func without(_ names: String...) -> HTTPHeaders {
        let removed = names.map { $0.lowercased() }
        var headers: HTTPHeaders = [:]
        for field in fields where !removed.contains(field.name.lowercased()) { headers.append(field.name, field.value) }
        return headers
    }
}

extension HTTPResponse {
    /// True for the step of a module.
    ///
    /// Its members `template` and `infoText` are those of OpenAM, and of the chains of older AM servers, which treat steps and
    /// sessions in the same way. AM's trees don't send them.
    var isModuleStep: Bool {
        // Most servers have no modules, and their steps are parsed only once.
        guard status == 200, body.contains(text: #""infoText""#),
            let members = (try? JSON.value(of: body))?.object
        else { return false }
        return members["authId"]?.string != nil && members["template"]?.string != nil && members["infoText"]?.array != nil
    }

    /// True when the server refused a step because it counts the callbacks and some are missing.
    var isMissingCallbacks: Bool { isRefusal("Incorrect number of callbacks found") }

    /// True when the server refused the end of a journey because it didn't recognize the session that the journey upgrades.
    var isRefusedUpgrade: Bool { isRefusal("Session Upgrade fails") }

    private func isRefusal(_ message: String) -> Bool { status == 400 && JourneyError(self).message.hasPrefix(message) }

    /// Removes a session token from the texts of an error, because OpenAM repeats one that it can't upgrade.
    mutating func hide(_ session: String) {
        guard status >= 400, let content = try? JSON.value(of: body) else { return }
        body = JSON.encode(content.hiding(session))
    }
}

extension [UInt8] {
    /// Returns true when the array contains the UTF-8 bytes of a text.
    ///
    /// Each response of a journey is searched. `firstRange(of:)` of the standard library is not specialized for bytes, so each byte
    /// would cost several calls of generic code.
    fileprivate func contains(text: String) -> Bool {
        let wanted = Array(text.utf8)
        guard let first = wanted.first else { return true }
        var rest = self[...]
        while let start = rest.firstIndex(of: first) {
            if rest[start...].starts(with: wanted) { return true }
            rest = rest[(start + 1)...]
        }
        return false
    }
}

extension JSONValue {
    /// Returns the value with `…` in place of a secret text.
    fileprivate func hiding(_ secret: String) -> JSONValue {
        switch self {
        case .string(let text): .string(text.replacing(secret, with: "…"))
        case .array(let elements): .array(elements.map { $0.hiding(secret) })
        case .object(let members): .object(members.mapValues { $0.hiding(secret) })
        case .null, .bool, .integer, .number: self
        }
    }
}

extension RequestAction {
    /// True for the start of a journey.
    var isStart: Bool { name == RequestAction.startAuthenticate(.default).name }
}
