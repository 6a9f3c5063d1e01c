import Foundation
import SignetCore

/// The members of a mechanism's JSON (protocol/authenticator.md section 7.2).
extension SignetCore.Mechanism {
    var legacyMembers: [String: JSONValue] {
        var members = Dictionary(textsOrNull: [
            "id": legacyIdentifier, "mechanismUID": uid, "issuer": account.issuer, "accountName": account.accountName,
            "uid": userID, "resourceId": resourceID,
        ])
        members["timeAdded"] = .milliseconds(timeAdded)
        switch kind {
        case .oath(let settings):
            members["type"] = .string("otpauth")
            members["oathType"] = .string(oathType)
            members["secret"] = .string(Base32.encode(settings.secret.bytes))
            members["algorithm"] = .string(settings.algorithm.rawValue.lowercased())
            members["digits"] = .integer(Int64(settings.digits.count))
            switch settings.factor {
            case .time(let period): members["period"] = .integer(Int64(period.seconds))
            // A counter is an unsigned 64-bit number. A counter above Int64.max is written as a string, because JSON readers may
            // round it.
            case .counter(let next):
                members["counter"] = Int64(exactly: next).map { JSONValue.integer($0) } ?? .string(String(next))
            }
        case .push(let settings):
            // A mechanism with key pairs can only be in a vault that the command line shares with the app. The type of its URI is
            // one that the ForgeRock SDK refuses.
            members["type"] = .string(settings.serverKey == nil ? "pushauth" : "pipush")
            members["secret"] = .string(Base64.encode(settings.secret.bytes, as: .url))
            members["registrationEndpoint"] = .string(settings.registrationEndpoint.url)
            members["authenticationEndpoint"] = .string(settings.authenticationEndpoint.url)
            members["loadBalancer"] = settings.loadBalancerCookie.map { JSONValue.string($0) } ?? .null
            // The one-time parts of the registration are used up and not stored. The ForgeRock SDK's reader requires strings
            // here.
            members["messageId"] = .string("")
            members["challenge"] = .string("")
            // Members that only this SDK has: the addresses of the server's push stream and of the push gateway, and the push
            // platform if it isn't AM.
            if let server = settings.streamEndpoint { members["deskEndpoint"] = .string(server.url) }
            if let gateway = settings.gatewayEndpoint { members["frontEndpoint"] = .string(gateway.url) }
            if let platform = settings.platform { members["platform"] = .string(platform) }
        }
        return members
    }

    /// Reads a mechanism from its members, in the iOS or the Android form.
    ///
    /// The ForgeRock SDK for Android stores no time with some mechanisms; such a mechanism sorts before all others.
    init(legacy members: JSONMembers) throws(JSONMemberError) {
        try self.init(forgeRock: members, defaultTime: Date(timeIntervalSince1970: 0))
    }

    /// `totp` or `hotp`; `steam` for codes of Steam, which the ForgeRock SDK does not have and refuses by this type.
    ///
    /// Such a mechanism can only be in a vault that the command line shares with the app.
    var oathType: String { oath?.encoding == .steam ? "steam" : kindName.rawValue }

    /// `issuer-accountName-type`.
    var legacyIdentifier: String { "\(account.legacyIdentifier)-\(kindName.rawValue)" }
}

extension OATHSettings {
    /// Returns these settings, with the digits and the period that the app gave an object; those of Steam unchanged.
    func shown(as shown: OATHSettings) -> OATHSettings {
        guard encoding == .decimal else { return self }
        var settings = self
        settings.digits = shown.digits
        if case .time = settings.factor, case .time = shown.factor { settings.factor = shown.factor }
        return settings
    }
}
