/// The SDKs whose requests the server supports, as the columns of protocol/journey.md name them.
enum SDK: String, CaseIterable, Sendable {
    case forgeRockIOS = "FR-iOS"
    case forgeRockAndroid = "FR-AND"
    case ping = "PING"
    case forgeRockJS = "FR-JS"

    /// Returns `Accept-API-Version` of a row in protocol/journey.md section 1.6; nil where the SDK sends none.
    func version(_ endpoint: Endpoint) -> String? {
        switch (self, endpoint) {
        case (.forgeRockIOS, .authenticate), (.forgeRockIOS, .authorize), (.forgeRockIOS, .token), (.forgeRockIOS, .userInfo):
            "resource=2.1,protocol=1.0"
        case (.forgeRockIOS, .logout): "resource=3.1"
        case (.forgeRockAndroid, .authenticate), (.forgeRockAndroid, .authorize), (.forgeRockAndroid, .token),
            (.forgeRockAndroid, .revoke), (.forgeRockAndroid, .sessionInfo), (.ping, .authenticate), (.ping, .authorize):
            "resource=2.1, protocol=1.0"
        case (.forgeRockAndroid, .logout), (.ping, .logout): "resource=3.1, protocol=1.0"
        case (.forgeRockIOS, .sessionInfo), (.ping, .sessionInfo): "resource=2.1"
        case (.forgeRockJS, .authenticate): "protocol=1.0,resource=2.1"
        case (.forgeRockJS, .advice): "resource=2.0, protocol=1.0"
        case (.forgeRockJS, .logout): "protocol=1.0,resource=2.0"
        case (_, .advice): version(.authenticate)
        case (.forgeRockJS, .devices): nil
        case (_, .devices): "resource=1.0"
        default: nil
        }
    }

    enum Endpoint { case authenticate, advice, authorize, token, revoke, userInfo, endSession, logout, sessionInfo, devices }

    /// Returns the headers of every request to an endpoint, in the SDK's own spelling.
    func headers(_ endpoint: Endpoint) -> [String: String] {
        var headers: [String: String] = [:]
        let name = self == .forgeRockIOS ? "accept-api-version" : "Accept-API-Version"
        headers[name] = version(endpoint)
        switch (self, endpoint) {
        case (.forgeRockIOS, _):
            headers["x-requested-with"] = "forgerock-sdk"
            headers["x-requested-platform"] = "ios"
        case (.forgeRockAndroid, _):
            headers["x-requested-with"] = "forgerock-sdk"
            headers["x-requested-platform"] = "android"
        case (.forgeRockJS, _):
            headers["x-requested-with"] = "forgerock-sdk"
            headers["x-requested-platform"] = "javascript"
        case (.ping, .authenticate), (.ping, .advice):
            headers["x-requested-with"] = "ping-sdk"
            headers["x-requested-platform"] = "ios"
            headers["Accept-Language"] = "de-AT, de;q=0.9, en;q=0.8"
        default: break
        }
        switch endpoint {
        case .authenticate, .advice, .logout, .sessionInfo:
            headers["Content-Type"] = self == .forgeRockAndroid ? "application/json; charset=utf-8" : "application/json"
            if self == .forgeRockIOS || self == .forgeRockJS { headers["Accept"] = "application/json" }
        case .token, .revoke: headers["Content-Type"] = "application/x-www-form-urlencoded"
        case .authorize, .endSession:
            if self == .forgeRockIOS { headers["Content-Type"] = "application/x-www-form-urlencoded" }
            if endpoint == .endSession, self == .forgeRockAndroid || self == .forgeRockJS {
                headers["Accept"] = "application/json"
            }
        case .userInfo: if self == .forgeRockIOS { headers["Content-Type"] = "application/json" }
        case .devices: break
        }
        return headers
    }

    /// Returns the SDK's session headers: a header named like the cookie, the cookie, or both (section 1.6).
    func session(on endpoint: Endpoint) -> [String: String] {
        let header = ["iPlanetDirectoryPro": "{session}"]
        let cookie = ["Cookie": "amlbcookie=01; iPlanetDirectoryPro={session}"]
        switch (self, endpoint) {
        case (.forgeRockJS, _): return cookie
        case (.ping, _): return header
        case (_, .authenticate), (_, .advice): return cookie
        default: return header.merging(cookie) { $1 }
        }
    }
}
