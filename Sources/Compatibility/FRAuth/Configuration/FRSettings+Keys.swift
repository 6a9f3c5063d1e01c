import SignetCore

/// A key of `FRAuthConfig` and its property.
enum FROptionsKey: String, CaseIterable {
    case url = "forgerock_url"
    case realm = "forgerock_realm"
    case enableCookie = "forgerock_enable_cookie"
    case cookieName = "forgerock_cookie_name"
    case timeout = "forgerock_timeout"
    case authenticateEndpoint = "forgerock_authenticate_endpoint"
    case authorizeEndpoint = "forgerock_authorize_endpoint"
    case tokenEndpoint = "forgerock_token_endpoint"
    case revokeEndpoint = "forgerock_revoke_endpoint"
    case userinfoEndpoint = "forgerock_userinfo_endpoint"
    case sessionEndpoint = "forgerock_session_endpoint"
    case endSessionEndpoint = "forgerock_endsession_endpoint"
    case authServiceName = "forgerock_auth_service_name"
    case registrationServiceName = "forgerock_registration_service_name"
    case oauthThreshold = "forgerock_oauth_threshold"
    case oauthClientId = "forgerock_oauth_client_id"
    case oauthRedirectUri = "forgerock_oauth_redirect_uri"
    case oauthSignoutRedirectUri = "forgerock_oauth_sign_out_redirect_uri"
    case oauthScope = "forgerock_oauth_scope"
    case keychainAccessGroup = "forgerock_keychain_access_group"
    case sslPinningPublicKeyHashes = "forgerock_ssl_pinning_public_key_hashes"

    /// The property of a key with a string value; nil for other keys.
    var text: WritableKeyPath<FRSettings, String>? {
        switch self {
        case .url: \.url
        case .realm: \.realm
        case .cookieName: \.cookieName
        case .timeout: \.timeout
        case .authServiceName: \.authServiceName
        case .registrationServiceName: \.registrationServiceName
        default: nil
        }
    }

    /// The property of a key with an optional string value; nil for other keys.
    var optionalText: WritableKeyPath<FRSettings, String?>? {
        switch self {
        case .authenticateEndpoint: \.authenticateEndpoint
        case .authorizeEndpoint: \.authorizeEndpoint
        case .tokenEndpoint: \.tokenEndpoint
        case .revokeEndpoint: \.revokeEndpoint
        case .userinfoEndpoint: \.userinfoEndpoint
        case .sessionEndpoint: \.sessionEndpoint
        case .endSessionEndpoint: \.endSessionEndpoint
        case .oauthThreshold: \.oauthThreshold
        case .oauthClientId: \.oauthClientId
        case .oauthRedirectUri: \.oauthRedirectUri
        case .oauthSignoutRedirectUri: \.oauthSignoutRedirectUri
        case .oauthScope: \.oauthScope
        case .keychainAccessGroup: \.keychainAccessGroup
        default: nil
        }
    }
}

extension FRSettings {
    /// Creates settings from a dictionary with the keys of `FRAuthConfig.plist`, such as `forgerock_url`.
    ///
    /// A missing value gets its default. A value of a wrong type is ignored, except that an integer is accepted where a string is
    /// expected. Unknown keys are ignored.
    init(config: [String: Any]) {
        self.init()
        for key in FROptionsKey.allCases {
            if let value = JSONValue(any: config[key.rawValue]) { try? set(key, value) }
        }
    }

    /// Creates settings from a JSON object with the keys of `FRAuthConfig.plist`.
    /// - Throws: ``ConfigError/invalidConfiguration(_:)`` when the document isn't an object, or when a value has a wrong type:
    ///   the error names the key.
    init(document: JSONValue) throws(ConfigError) {
        guard let members = document.object else { throw .invalidConfiguration("the document is not a dictionary") }
        self.init()
        for key in FROptionsKey.allCases { try set(key, members[key.rawValue] ?? .null) }
    }

    /// Sets the value of a key.
    ///
    /// Null changes nothing.
    private mutating func set(_ key: FROptionsKey, _ value: JSONValue) throws(ConfigError) {
        guard value != .null else { return }
        switch key {
        case .enableCookie:
            guard case .bool(let bool) = value else { throw .invalidConfiguration("\(key.rawValue) must be true or false") }
            enableCookie = bool
        case .sslPinningPublicKeyHashes:
            guard let elements = value.array, elements.allSatisfy({ $0.string != nil }) else {
                throw .invalidConfiguration("\(key.rawValue) must be an array of strings")
            }
            sslPinningPublicKeyHashes = elements.compactMap(\.string)
        default:
            guard let text = value.string ?? value.lenientInteger.map({ String($0) }) else {
                throw .invalidConfiguration("\(key.rawValue) must be a string")
            }
            if let path = key.text { self[keyPath: path] = text }
            if let path = key.optionalText { self[keyPath: path] = text }
        }
    }

    /// The settings as a JSON object, which ``init(document:)`` reads.
    var document: JSONValue {
        var members: [String: JSONValue] = [:]
        for key in FROptionsKey.allCases {
            switch key {
            case .enableCookie: members[key.rawValue] = .bool(enableCookie)
            case .sslPinningPublicKeyHashes:
                members[key.rawValue] = sslPinningPublicKeyHashes.map { .array($0.map { .string($0) }) }
            default:
                if let path = key.text { members[key.rawValue] = .string(self[keyPath: path]) }
                if let path = key.optionalText { members[key.rawValue] = self[keyPath: path].map { .string($0) } }
            }
        }
        return .object(members)
    }
}
