// A pinned server, a profile in YAML, a login in the browser, a key that a PIN releases, and a push gateway.
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetPushGateway
import SignetServer
import SignetStorage
import SignetYAML

// snippet.hide
func readOrders(pin: PublicKeyPin) async throws -> [UInt8] {
    // snippet.show
    let transport = AsyncHTTPTransport()
    var request = HTTPRequest("GET", "https://api.example.com/orders", timeout: .seconds(10), pins: [pin])
    request.headers.set("Accept", "application/json")
    let response = try await transport.deliver(request)
    await transport.close()
    // snippet.hide
    return response.body
}

func readProfile() throws -> ServerProfile {
    // snippet.show
    let text = """
        url: https://am.example.com/am
        realm: alpha
        client:
          id: desktop
          redirectUri: http://127.0.0.1/callback
          scopes: [openid, profile]
        """
    let profile = try ServerProfile(yaml: text.utf8)
    // snippet.hide
    return profile
}

func makeTokens(over transport: any HTTPTransport) throws -> (SessionStore, TokenSource) {
    // snippet.show
    let endpoints = OAuthEndpoints(
        issuer: "https://op.example.com", discovery: "https://op.example.com/.well-known/openid-configuration")
    let client = OAuthClient(clientID: "desktop", redirectURI: "http://127.0.0.1/callback", scopes: ["openid", "profile"])
    let store = try SessionStore.keychain(account: "com.example.app")
    let tokens = TokenSource(endpoints, client: client, store: store, transport: transport)
    // snippet.hide
    return (store, tokens)
}

func authorize(_ request: HTTPRequest, with tokens: TokenSource, of store: SessionStore) async throws -> HTTPRequest {
    var request = request
    // snippet.show
    if try await TokenReader(store).storedToken() == nil {
        _ = try await BrowserLogin(tokens).logIn()
    }

    // Ask whenever a token is needed: it is renewed before it expires.
    let token = try await tokens.token()
    request.headers.set("Authorization", token.authorization)
    // snippet.hide
    return request
}

func logOut(_ tokens: TokenSource, show: (String) -> Void) async {
    // snippet.show
    let report = await tokens.logOut()
    if case .failed(let error) = report.tokens { show("The tokens stay valid at the server: \(error)") }
    // snippet.hide
}

func keepToken(_ token: AccessToken, pin text: String) async throws -> AccessToken? {
    // snippet.show
    let pin = Secret(text.utf8)
    let key = try SecuredKey(tag: "com.example.app", pin: pin)  // StoreError.denied with a wrong PIN
    let tokens = KeychainStorage<AccessToken>(account: "com.example.app/token", encryptor: SecuredKeyEncryptor(key))
    try await tokens.save(item: token)
    let stored = try await tokens.get()  // The TPM checks the PIN again.
    // snippet.hide
    return stored
}

func replaceKey() throws -> KeychainStorage<AccessToken> {
    // snippet.show
    var key = try SecuredKey(biometryTag: "com.example.app")
    let tokens = KeychainStorage<AccessToken>(account: "com.example.app/token", encryptor: SecuredKeyEncryptor(key))
    // After StoreError.denied, and once the user agrees to log in again:
    key = try SecuredKey.enrollBiometry(tag: "com.example.app")
    // snippet.hide
    _ = key.publicKey
    return tokens
}

func makeConfiguration(secret: Secret) -> ServerConfiguration {
    // snippet.show
    let key = AWSCredentials(accessKey: "signet-gateway", secret: secret)
    let configuration = ServerConfiguration { $0.pushGateway = PushGatewayConfiguration(keys: [key]) }
    // snippet.hide
    return configuration
}
