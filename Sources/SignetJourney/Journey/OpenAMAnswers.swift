import SignetCore
import SignetNetwork

// The requests and answers by which OpenAM differs from AM (protocol/journey.md section 8).

extension HTTPRequest {
    /// The query parameter that names the session to upgrade.
    private static let upgradeParameter = "sessionUpgradeSSOTokenId"

    /// The session that the query names; nil when it names none.
    var upgradedSession: String? { FormCoding.query(of: url)[Self.upgradeParameter] }

    /// Adds the session that the journey upgrades to the query.
    mutating func upgrade(_ session: String) {
        url = FormCoding.address(url, adding: [(Self.upgradeParameter, session)])
    }
}

extension HTTPResponse {
    /// True for the step of a module.
    ///
    /// Its members `template` and `infoText` are those of OpenAM, and of the chains of older AM servers, which treat steps and
    /// sessions in the same way. AM's trees don't send them.
    var isModuleStep: Bool {
        // Most servers have no modules, and their steps are parsed only once.
        guard status == 200, body.firstRange(of: Array(#""infoText""#.utf8)) != nil,
            let members = (try? JSON.value(of: body))?.object
        else { return false }
        return members["authId"]?.string != nil && members["template"]?.string != nil && members["infoText"]?.array != nil
    }

    /// Removes a session token from the texts of an error, because OpenAM repeats one that it can't upgrade.
    mutating func hide(_ session: String) {
        guard status >= 400, let content = try? JSON.value(of: body) else { return }
        body = JSON.encode(content.hiding(session))
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

extension JourneyError {
    /// True when the server refused a step because it counts the callbacks and some are missing.
    var isMissingCallbacks: Bool { status == 400 && message.hasPrefix("Incorrect number of callbacks found") }

    /// True when the server refused the end of a journey because it didn't recognize the session that the journey upgrades.
    var isRefusedUpgrade: Bool { status == 400 && message.hasPrefix("Session Upgrade fails") }
}

extension RequestAction {
    /// True for the start of a journey.
    var isStart: Bool { name == RequestAction.startAuthenticate(.standard).name }
}
