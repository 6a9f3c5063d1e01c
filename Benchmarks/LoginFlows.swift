import Foundation
import SignetCore
import TestSupport

/// A person logs in with a name and a password, an app gets a code for them, and tokens for the code: a new session each time.
protocol LoginFlow: Sendable {
    /// - Throws: ``BenchError`` when no token came.
    func logIn() async throws
}

/// The app of all flows, with the proof key of the example in RFC 7636.
private enum App {
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    static let form = [("Content-Type", "application/x-www-form-urlencoded")]
    static let json = [("Content-Type", "application/json")]

    static func authorization(client: String, redirectURI: String, scope: String) -> String {
        FormCoding.encode([
            ("response_type", "code"), ("client_id", client), ("redirect_uri", redirectURI), ("scope", scope), ("state", "xyz"),
            ("nonce", "n0nce"), ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ])
    }

    static func exchange(_ code: String, client: String, redirectURI: String) -> String {
        FormCoding.encode([
            ("grant_type", "authorization_code"), ("code", code), ("client_id", client), ("redirect_uri", redirectURI),
            ("code_verifier", verifier),
        ])
    }

    static func check(_ answer: LoadClient.Answer, _ provider: String) throws {
        guard answer.status == 200, answer.json["access_token"]?.string != nil, answer.json["id_token"]?.string != nil else {
            throw BenchError("\(provider) gave no tokens: \(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
        }
    }
}

/// A `signet serve`, a user of it, and the client that loads it.
struct LoadedServer: Sendable {
    /// Its address with the context path.
    let url: String
    let user: (name: String, password: String)
    let client: LoadClient

    private static let redirectURI = "http://127.0.0.1/callback"

    init(_ server: MeasuredServer, _ client: LoadClient) {
        url = server.url
        user = server.user
        self.client = client
    }

    /// The app's authorization request.
    fileprivate var authorization: String {
        "\(oauth)/authorize?" + App.authorization(client: "app", redirectURI: Self.redirectURI, scope: "openid profile")
    }

    /// Exchanges the code of the app for tokens.
    fileprivate func exchange(_ code: String) async throws {
        let body = App.exchange(code, client: "app", redirectURI: Self.redirectURI)
        try App.check(try await client.send("POST", "\(oauth)/access_token", App.form, body: body), "signet serve")
    }

    private var oauth: String { "\(url)/oauth2/realms/root" }
}

/// At `signet serve`, as an SDK does it.
struct DevServerLogin: LoginFlow {
    let server: LoadedServer

    func logIn() async throws {
        let session = try await run("Login")["tokenId"]?.string ?? ""
        let answer = try await server.client.send("GET", server.authorization, [("iPlanetDirectoryPro", session)])
        guard let code = answer.parameter("code") else { throw BenchError("signet serve gave no code") }
        try await server.exchange(code)
    }

    /// Begins a journey and fills in name and password; returns what comes then.
    func run(_ journey: String, as name: String? = nil, password: String? = nil) async throws -> JSONValue {
        let authenticate = "\(server.url)/json/realms/root/authenticate"
        let first = try await server.client.send(
            "POST", "\(authenticate)?authIndexType=service&authIndexValue=\(journey)", App.json, body: "{}")
        var step = try JSON.decode(JourneyStep.self, from: first.body)
        for index in step.callbacks.indices {
            switch step.callbacks[index].type {
            case "NameCallback": step.callbacks[index].answer(.string(name ?? server.user.name))
            case "PasswordCallback": step.callbacks[index].answer(.string(password ?? server.user.password))
            default: break
            }
        }
        let text = String(decoding: try JSON.encode(step), as: UTF8.self)
        let answer = try await server.client.send("POST", authenticate, App.json, body: text)
        guard answer.status == 200 else {
            throw BenchError("signet serve refused a login: \(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
        }
        return answer.json
    }
}

/// At `signet serve`, as a browser does it: the authorization request, the page, its form, and the exchange of the code.
struct DevServerWebLogin: LoginFlow {
    let server: LoadedServer

    func logIn() async throws {
        let first = try await server.client.send("GET", server.authorization)
        guard let address = first.location?.prefix(while: { $0 != "#" }) else { throw BenchError("signet serve led to no page") }
        let page = try await server.client.send("GET", String(address))
        let cookies = page.cookies.map { String($0.prefix { $0 != ";" }) }.joined(separator: "; ")
        guard let origin = server.url.firstRange(of: "/am").map({ server.url[..<$0.lowerBound] }),
            let action = page.value(after: " action=\""),
            let flow = page.value(after: "name=\"flow\" value=\""),
            let csrf = page.value(after: "name=\"csrf\" value=\"")
        else { throw BenchError("signet serve has no login page: \(page.status)") }
        let fields = [
            ("flow", flow), ("page", "1"), ("csrf", csrf), ("IDToken1", server.user.name), ("IDToken2", server.user.password),
        ]
        let end = try await server.client.send(
            "POST", "\(origin)\(action)", App.form + [("Cookie", cookies)], body: FormCoding.encode(fields))
        guard let code = end.parameter("code") else { throw BenchError("signet serve gave a browser no code: \(end.status)") }
        try await server.exchange(code)
    }
}

/// At oidc-provider for Node.js, as a browser does it.
struct NodeProviderLogin: LoginFlow {
    let url: String
    let client: LoadClient

    private static let redirectURI = "http://127.0.0.1/callback"

    func logIn() async throws {
        var cookies: [String: String] = [:]
        let query = App.authorization(client: "app", redirectURI: Self.redirectURI, scope: "openid profile")
        let page = try await visit("GET", "/auth?\(query)", &cookies)
        guard let action = page.value(after: " action=\"") else { throw BenchError("oidc-provider has no login page") }
        let form = FormCoding.encode([("name", "alice"), ("password", "alicepw1")])
        let end = try await visit("POST", action, body: form, &cookies)
        guard let code = end.parameter("code") else { throw BenchError("oidc-provider gave no code: \(end.status)") }
        let body = App.exchange(code, client: "app", redirectURI: Self.redirectURI)
        try App.check(try await client.send("POST", "\(url)/token", App.form, body: body), "oidc-provider")
    }

    /// Sends a request with the cookies, and follows redirects until they lead to a page or to the app.
    private func visit(
        _ method: String, _ address: String, body: String? = nil, _ cookies: inout [String: String]
    ) async throws -> LoadClient.Answer {
        let header = ("Cookie", cookies.map { "\($0)=\($1)" }.joined(separator: "; "))
        let target = address.hasPrefix("/") ? url + address : address
        let answer = try await client.send(method, target, (body == nil ? [] : App.form) + [header], body: body)
        for cookie in answer.cookies {
            let name = String(cookie.prefix { $0 != "=" })
            cookies[name] = answer.cookie(name)
        }
        guard let next = answer.location, !next.hasPrefix(Self.redirectURI) else { return answer }
        return try await visit("GET", next, &cookies)
    }
}

/// At glewlwyd, over its own JSON interface.
struct GlewlwydLogin: LoginFlow {
    let provider: OpenIDProvider
    let client: LoadClient

    func logIn() async throws {
        let login = try await client.send(
            "POST", "\(provider.url)/api/auth", App.json, body: #"{"username":"alice","password":"alicepw1"}"#)
        guard let session = login.cookie(provider.cookieName) else { throw BenchError("glewlwyd refused a login") }
        // The last parameter skips a page that only says "continue".
        let query = App.authorization(client: "app", redirectURI: provider.redirectURI, scope: "openid scope1 g_profile")
        let code = try await client.send(
            "GET", "\(provider.issuer)/auth?\(query)&g_continue", [("Cookie", "\(provider.cookieName)=\(session)")]
        ).parameter("code")
        guard let code else { throw BenchError("glewlwyd gave no code") }
        let body = App.exchange(code, client: "app", redirectURI: provider.redirectURI)
        try App.check(try await client.send("POST", "\(provider.issuer)/token", App.form, body: body), "glewlwyd")
    }
}

/// At django-oauth-toolkit, over the form that a browser fills in.
struct DjangoLogin: LoginFlow {
    let provider: OpenIDProvider
    let client: LoadClient

    func logIn() async throws {
        let login = "\(provider.url)/login/"
        guard let token = try await client.send("GET", login).cookie("csrftoken") else { throw BenchError("Django has no form") }
        let fields = [
            ("username", "alice"), ("password", "alicepw1"), ("next", "/o/"), ("csrfmiddlewaretoken", token),
        ]
        let answer = try await client.send(
            "POST", login, App.form + [("Cookie", "csrftoken=\(token)"), ("Referer", login)], body: FormCoding.encode(fields))
        guard let session = answer.cookie("sessionid") else { throw BenchError("Django refused a login") }
        let query = App.authorization(client: "app", redirectURI: provider.redirectURI, scope: "openid read")
        let code = try await client.send("GET", "\(provider.issuer)/authorize/?\(query)", [("Cookie", "sessionid=\(session)")])
            .parameter("code")
        guard let code else { throw BenchError("Django gave no code") }
        let body = App.exchange(code, client: "app", redirectURI: provider.redirectURI)
        try App.check(try await client.send("POST", "\(provider.issuer)/token/", App.form, body: body), "Django")
    }
}

extension LoadClient.Answer {
    /// Returns the text of the page after a mark, up to the next quotation mark.
    fileprivate func value(after mark: String) -> String? {
        let text = String(decoding: body, as: UTF8.self)
        guard let start = text.firstRange(of: mark)?.upperBound else { return nil }
        return String(text[start...].prefix { $0 != "\"" }).replacing("&amp;", with: "&")
    }
}
