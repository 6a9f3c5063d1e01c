public import SignetCore
import SignetNetwork

/// The names of the settings in a document and in the environment.
enum ProfileSetting: String, CaseIterable {
    case url
    case realm
    case realmForm
    case cookieName
    case timeout
    case refreshThreshold
    case pins
    case keepsCookies
    case authenticationService
    case registrationService
    case dialect
    case requestedWith
    case preferredLanguages
    case issuer
    case clientID = "client.id"
    case clientRedirectURI = "client.redirectUri"
    case clientScopes = "client.scopes"
    case clientSignOutRedirectURI = "client.signOutRedirectUri"
    case clientParameters = "client.parameters"
    case clientIDTokenSignedResponseAlg = "client.idTokenSignedResponseAlg"
    case clientTrustedAudiences = "client.trustedAudiences"
    case clientRequiresACR = "client.requiresACR"
    case clientAuthentication = "client.authentication"
    case clientSecretFile = "client.secretFile"
    case clientKeyFile = "client.keyFile"
    case clientKeyID = "client.keyID"
    case clientDPoP = "client.dpop"
    case clientPushesRequests = "client.pushesRequests"

    /// Returns the name for the environment: `COOKIE_NAME` for `cookieName`, and `CLIENT_REQUIRES_ACR` for `client.requiresACR`.
    static func variable(_ key: String) -> String {
        var name = ""
        var isInCapitals = false
        for character in key {
            if character == "." {
                name += "_"
            } else {
                if character.isUppercase, !isInCapitals { name += "_" }
                name += character.uppercased()
            }
            isInCapitals = character.isUppercase
        }
        return name
    }
}

/// Settings from a document or the environment, by the keys of a document: `url` or `endpoints.authorize`.
struct ProfileSettings {
    private let environment: [String: String]?
    private let value: (_ key: String) -> JSONValue?

    /// Creates settings.
    /// - Parameters:
    ///   - environment: The environment variables with the directory of systemd's credentials; nil for those of this process.
    ///   - value: A closure that returns the value of a setting; nil when the setting is absent.
    init(environment: [String: String]? = nil, _ value: @escaping (_ key: String) -> JSONValue?) {
        self.environment = environment
        self.value = value
    }

    /// Returns the profile with these settings.
    /// - Parameters:
    ///   - policy: The policy that decides which addresses may receive a password.
    ///   - clientSecret: The secret of the client; nil for the one in the file of the settings.
    /// - Returns: The profile.
    /// - Throws: ``ProfileError``.
    func profile(policy: EndpointPolicy, clientSecret: Secret? = nil) throws(ProfileError) -> ServerProfile {
        guard let url = try text(.url) else { throw ProfileError("url", .missing) }
        var endpoints: EndpointOverrides = [:]
        for endpoint in ServerEndpoint.allCases { endpoints[endpoint] = try text("endpoints.\(endpoint.rawValue)") }
        let form = try choice(.realmForm, Realm.PathForm.self) ?? .full
        var profile = try ServerProfile(
            url: url, realm: Realm(try text(.realm) ?? ""), realmForm: form, endpoints: endpoints, policy: policy)
        if let name = try text(.cookieName) { profile.cookieName = name }
        if let timeout = try duration(.timeout) { profile.timeout = timeout }
        if let threshold = try duration(.refreshThreshold) { profile.refreshThreshold = threshold }
        if let pins = try list(.pins) { profile.pins = Set(try pins.map { pin throws(ProfileError) in try Self.pin(pin) }) }
        if let keeps = try bool(.keepsCookies) { profile.keepsCookies = keeps }
        profile.client = try client(secret: clientSecret)
        if let service = try text(.authenticationService) { profile.authenticationService = service }
        if let service = try text(.registrationService) { profile.registrationService = service }
        if let dialect = try choice(.dialect, ServerProfile.Dialect.self) { profile.dialect = dialect }
        if let name = try text(.requestedWith) { profile.requestedWith = name }
        if let languages = try list(.preferredLanguages) { profile.preferredLanguages = languages }
        if let issuer = try text(.issuer) { profile.issuer = issuer }
        try profile.validate()
        return profile
    }

    /// Returns the client; nil when no setting of the client is present.
    private func client(secret: Secret?) throws(ProfileError) -> OAuthClient? {
        let (id, redirectURI, scopes) = (try text(.clientID), try text(.clientRedirectURI), try list(.clientScopes))
        let (signOut, parameters) = (try text(.clientSignOutRedirectURI), try texts(.clientParameters))
        let (algorithm, audiences) = (try text(.clientIDTokenSignedResponseAlg), try list(.clientTrustedAudiences))
        let requiresACR = try bool(.clientRequiresACR)
        let authentication = try authentication(secret)
        let (dpop, pushesRequests) = (try choice(.clientDPoP, DPoPMode.self), try bool(.clientPushesRequests))
        let isAbsent = id == nil && redirectURI == nil && scopes == nil && signOut == nil && parameters == nil
        let isPlain = dpop == nil && pushesRequests == nil && authentication == nil
        if isAbsent, isPlain, algorithm == nil, audiences == nil, requiresACR == nil { return nil }
        guard let id else { throw ProfileError(ProfileSetting.clientID.rawValue, .missing) }
        // The client of a service has no redirect URI.
        let isPublic = authentication?.method ?? .publicClient == .publicClient
        guard let redirectURI = redirectURI ?? (isPublic ? nil : OAuthClient.noRedirectURI) else {
            throw ProfileError(ProfileSetting.clientRedirectURI.rawValue, .missing)
        }
        return OAuthClient(
            clientID: id, redirectURI: redirectURI, scopes: scopes ?? [], signOutRedirectURI: signOut,
            authorizationParameters: parameters ?? [:], authentication: authentication ?? ClientAuthentication.none,
            idTokenSignedResponseAlg: algorithm, trustedAudiences: audiences ?? [], requiresACR: requiresACR ?? true,
            dpop: dpop ?? DPoPMode.none, pushesRequests: pushesRequests ?? false)
    }

    /// Returns the authentication of the client; nil when no setting of it is present.
    ///
    /// The settings never contain the secret itself. A document is often readable by other users, and child processes inherit the
    /// environment.
    private func authentication(_ given: Secret?) throws(ProfileError) -> ClientAuthentication? {
        let method = try choice(.clientAuthentication, ClientAuthentication.Method.self)
        let path = try text(.clientSecretFile)
        if let key = try clientKey(method) {
            guard given == nil, path == nil else {
                throw ProfileError(
                    ProfileSetting.clientSecretFile.rawValue, .value("contradicts client.authentication: private_key_jwt"))
            }
            return ClientAuthentication.privateKeyJWT(key)
        }
        guard method?.needsSecret ?? (given != nil || path != nil) else {
            guard path == nil else {
                throw ProfileError(
                    ProfileSetting.clientSecretFile.rawValue, .value("contradicts client.authentication: none"))
            }
            return method.map { _ in ClientAuthentication.none }
        }
        let secret: Secret
        if let given {
            secret = given
        } else if let path {
            secret = try ClientSecretFile.secret(ofSetting: path, environment: environment)
        } else {
            throw ProfileError(ProfileSetting.clientSecretFile.rawValue, .missing)
        }
        if method == .clientSecretPost { return ClientAuthentication.clientSecretPost(secret) }
        return ClientAuthentication.clientSecretBasic(secret)
    }

    /// Returns the key of a client that authenticates with one; nil for another method.
    ///
    /// A file with a key needs no other setting.
    private func clientKey(_ method: ClientAuthentication.Method?) throws(ProfileError) -> ClientKey? {
        let (path, identifier) = (try text(.clientKeyFile), try text(.clientKeyID))
        guard method ?? (path == nil ? .publicClient : .privateKeyJWT) == .privateKeyJWT else {
            guard path == nil, identifier == nil else {
                let setting: ProfileSetting = path == nil ? .clientKeyID : .clientKeyFile
                throw ProfileError(setting.rawValue, .value("is for client.authentication: private_key_jwt"))
            }
            return nil
        }
        guard let path else { throw ProfileError(ProfileSetting.clientKeyFile.rawValue, .missing) }
        return try ClientSecretFile.key(ofSetting: path, identifier: identifier, environment: environment)
    }

    private static func pin(_ text: String) throws(ProfileError) -> PublicKeyPin {
        do throws(PublicKeyPin.Invalid) {
            return try PublicKeyPin(text)
        } catch {
            throw ProfileError(ProfileSetting.pins.rawValue, .value(error.description))
        }
    }

    private func bool(_ setting: ProfileSetting) throws(ProfileError) -> Bool? {
        switch value(setting.rawValue) {
        case nil, .null?: return nil
        case .bool(let bool)?: return bool
        case .string("true")?: return true
        case .string("false")?: return false
        default: throw ProfileError(setting.rawValue, .type(expected: "true or false"))
        }
    }

    /// Reads an object of strings.
    ///
    /// A string value is read as a URL query, for sources that support only strings.
    private func texts(_ setting: ProfileSetting) throws(ProfileError) -> [String: String]? {
        switch value(setting.rawValue) {
        case nil, .null?: return nil
        case .object(let members)?:
            let texts = members.compactMapValues(\.string)
            if texts.count == members.count { return texts }
        case .string(let query)?:
            let pairs = query.split(separator: "&", omittingEmptySubsequences: false)
            let texts = FormCoding.decode(query)
            // Each pair must have a unique name and an equals sign.
            if texts.count == pairs.count, pairs.allSatisfy({ $0.contains("=") && $0.first != "=" }) { return texts }
        default: break
        }
        throw ProfileError(
            setting.rawValue, .type(expected: "an object of strings, or a string such as acr_values=push&prompt=login"))
    }

    private func text(_ setting: ProfileSetting) throws(ProfileError) -> String? { try text(setting.rawValue) }

    private func text(_ key: String) throws(ProfileError) -> String? {
        switch value(key) {
        case nil, .null?: return nil
        case .string(let text)?: return text
        default: throw ProfileError(key, .type(expected: "a string"))
        }
    }

    private func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ setting: ProfileSetting, _ type: Choice.Type
    ) throws(ProfileError) -> Choice? {
        guard let text = try text(setting) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw ProfileError(setting.rawValue, .type(expected: "one of \(names)"))
        }
        return choice
    }

    /// Reads a number of seconds, from a number or a string.
    private func duration(_ setting: ProfileSetting) throws(ProfileError) -> Duration? {
        let seconds: Double?
        switch value(setting.rawValue) {
        case nil, .null?: return nil
        case .integer(let number)?: seconds = Double(number)
        case .number(let number)?: seconds = number
        case .string(let text)?: seconds = Double(text.trimmingWhitespace())
        default: seconds = nil
        }
        guard let seconds, seconds.magnitude < 1e9 else {
            throw ProfileError(setting.rawValue, .type(expected: "a number of seconds"))
        }
        return .seconds(seconds)
    }

    /// Reads an array of strings, or one string with spaces or commas as separators.
    private func list(_ setting: ProfileSetting) throws(ProfileError) -> [String]? {
        switch value(setting.rawValue) {
        case nil, .null?: return nil
        case .string(let text)?: return text.split { $0 == "," || $0.isWhitespace }.map { String($0) }
        case .array(let elements)?:
            let texts = elements.compactMap(\.string)
            guard texts.count == elements.count else { break }
            return texts
        default: break
        }
        throw ProfileError(setting.rawValue, .type(expected: "an array of strings"))
    }
}

extension ServerProfile {
    /// Creates a profile from a JSON document.
    ///
    ///     {"url": "https://am.example.com/am", "realm": "alpha", "timeout": 30, "endpoints": {"authorize": "custom/authorize"}}
    ///
    /// The members have the names of the properties. `timeout` and `refreshThreshold` are in seconds. `pins` is an array or a
    /// string. An unknown member is an error, so that misspelled names are reported. `client.secretFile` is the absolute path of a
    /// file of mode 0600 with the client's secret, or of a credential in the process's `CREDENTIALS_DIRECTORY`, which may belong to
    /// root. It is read once, here.
    /// - Parameters:
    ///   - bytes: The document.
    ///   - policy: The policy that decides which addresses may receive a password.
    ///   - clientSecret: The secret of the client, from a storage of the app; nil for the one in the file that the document names. A
    ///     document with `client.authentication: none` has no use for it.
    /// - Throws: ``ProfileError``.
    public init(
        json bytes: some Sequence<UInt8>, policy: EndpointPolicy = .secure, clientSecret: Secret? = nil
    ) throws(ProfileError) {
        let document: JSONValue
        do {
            document = try JSON.value(of: bytes)
        } catch {
            throw ProfileError("", .unreadable("cannot be read: \(error)"))
        }
        try self.init(document: document, policy: policy, clientSecret: clientSecret)
    }

    /// Creates a profile from a document that is already parsed, for example from YAML or from a part of another document; see
    /// ``init(json:policy:clientSecret:)``.
    /// - Parameters:
    ///   - document: The document.
    ///   - policy: The policy that decides which addresses may receive a password.
    ///   - clientSecret: The secret of the client, from a storage of the app; nil for the one in the file that the document names.
    /// - Throws: ``ProfileError``.
    public init(
        document: JSONValue, policy: EndpointPolicy = .secure, clientSecret: Secret? = nil
    ) throws(ProfileError) {
        guard let members = document.object else { throw ProfileError("", .unreadable("is not an object")) }
        for name in members.keys.sorted() where name != "endpoints" && name != "client" {
            guard ProfileSetting(rawValue: name) != nil, !name.contains(".") else { throw ProfileError(name, .unknown) }
        }
        // The key of a nested member has the name of its object as a prefix.
        var inner: [String: JSONValue] = [:]
        for group in ["client", "endpoints"] {
            let value = members[group] ?? .null
            guard value == .null || value.object != nil else { throw ProfileError(group, .type(expected: "an object")) }
            for (name, value) in (value.object ?? [:]).sorted(by: { $0.key < $1.key }) {
                let isKnown =
                    group == "client" ? ProfileSetting(rawValue: "client.\(name)") != nil : ServerEndpoint(rawValue: name) != nil
                guard isKnown else { throw ProfileError("\(group).\(name)", .unknown) }
                inner["\(group).\(name)"] = value
            }
        }
        self = try ProfileSettings { key in
            inner[key] ?? members[key]
        }.profile(policy: policy, clientSecret: clientSecret)
    }

    /// Creates a profile from environment variables: `SIGNET_URL`, `SIGNET_REALM`, `SIGNET_COOKIE_NAME`, `SIGNET_TIMEOUT`,
    /// `SIGNET_PINS`, `SIGNET_ENDPOINTS_AUTHORIZE`, `SIGNET_CLIENT_ID` and so on.
    ///
    /// Each variable has the name of a property in upper case. Lists have spaces or commas as separators.
    /// `SIGNET_CLIENT_PARAMETERS` is a URL query: `acr_values=push&prompt=login`. `SIGNET_CLIENT_SECRET_FILE` is the path of a
    /// file, which may be a credential of systemd in the directory that `CREDENTIALS_DIRECTORY` names; no variable contains a
    /// secret. An empty variable counts as unset. Unknown variables are ignored, because they may belong to another program.
    /// - Parameters:
    ///   - environment: The variables by name.
    ///   - prefix: The prefix of the variable names.
    ///   - policy: The policy that decides which addresses may receive a password.
    /// - Throws: ``ProfileError``, whose key is that of a document: `cookieName` for `SIGNET_COOKIE_NAME`.
    public init(
        environment: [String: String], prefix: String = "SIGNET_", policy: EndpointPolicy = .secure
    ) throws(ProfileError) {
        self = try ProfileSettings(environment: environment) { key in
            environment[prefix + ProfileSetting.variable(key)].flatMap { $0.isEmpty ? nil : .string($0) }
        }.profile(policy: policy)
    }
}
