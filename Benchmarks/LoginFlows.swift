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

/// At `signet serve`, as an SDK does it.
struct DevServerLogin: LoginFlow {
    let url: String
    let user: (name: String, password: String)
    let client: LoadClient

    private static let redirectURI = "http://127.0.0.1/callback"

    init(server: MeasuredServer, client: LoadClient) {
        url = server.url
        user = server.user
        self.client = client
    }

    func logIn() async throws {
        let session = try await run("Login")["tokenId"]?.string ?? ""
        let oauth = "\(url)/oauth2/realms/root"
        let query = App.authorization(client: "app", redirectURI: Self.redirectURI, scope: "openid profile")
        let code = try await client.send("GET", "\(oauth)/authorize?\(query)", [("iPlanetDirectoryPro", session)]).parameter(
            "code")
        guard let code else { throw BenchError("signet serve gave no code") }
        let body = App.exchange(code, client: "app", redirectURI: Self.redirectURI)
        try App.check(try await client.send("POST", "\(oauth)/access_token", App.form, body: body), "signet serve")
    }

    /// Begins a journey and fills in name and password; returns what comes then.
    func run(_ journey: String, as name: String? = nil, password: String? = nil) async throws -> JSONValue {
        let authenticate = "\(url)/json/realms/root/authenticate"
        let first = try await client.send(
            "POST", "\(authenticate)?authIndexType=service&authIndexValue=\(journey)", App.json, body: "{}")
        var step = try JSON.decode(JourneyStep.self, from: first.body)
        for index in step.callbacks.indices {
            switch step.callbacks[index].type {
            case "NameCallback": step.callbacks[index].answer(.string(name ?? user.name))
            case "PasswordCallback": step.callbacks[index].answer(.string(password ?? user.password))
            default: break
            }
        }
        let text = String(decoding: try JSON.encode(step), as: UTF8.self)
        let answer = try await client.send("POST", authenticate, App.json, body: text)
        guard answer.status == 200 else {
            throw BenchError("signet serve refused a login: \(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
        }
        return answer.json
    }
}

/// At `signet serve`, as a browser does it: the authorization request, the page, its form, and the exchange of the code.
struct DevServerWebLogin: LoginFlow {
    let url: String
    let user: (name: String, password: String)
    let client: LoadClient

    private static let redirectURI = "http://127.0.0.1/callback"

    init(server: MeasuredServer, client: LoadClient) {
        url = server.url
        user = server.user
        self.client = client
    }

    func logIn() async throws {
        let oauth = "\(url)/oauth2/realms/root"
        let query = App.authorization(client: "app", redirectURI: Self.redirectURI, scope: "openid profile")
        let first = try await client.send("GET", "\(oauth)/authorize?\(query)")
        guard let address = first.location?.prefix(while: { $0 != "#" }) else { throw BenchError("signet serve led to no page") }
        let page = try await client.send("GET", String(address))
        let text = String(decoding: page.body, as: UTF8.self)
        let cookies = page.cookies.map { String($0.prefix { $0 != ";" }) }.joined(separator: "; ")
        guard let origin = url.firstRange(of: "/am").map({ url[..<$0.lowerBound] }),
            let action = Self.value(of: " action=\"", in: text),
            let flow = Self.value(of: "name=\"flow\" value=\"", in: text),
            let csrf = Self.value(of: "name=\"csrf\" value=\"", in: text)
        else { throw BenchError("signet serve has no login page: \(page.status)") }
        let fields = [
            ("flow", flow), ("page", "1"), ("csrf", csrf), ("IDToken1", user.name), ("IDToken2", user.password),
        ]
        let end = try await client.send(
            "POST", "\(origin)\(action)", App.form + [("Cookie", cookies)], body: FormCoding.encode(fields))
        guard let code = end.parameter("code") else { throw BenchError("signet serve gave a browser no code: \(end.status)") }
        let body = App.exchange(code, client: "app", redirectURI: Self.redirectURI)
        try App.check(try await client.send("POST", "\(oauth)/access_token", App.form, body: body), "signet serve")
    }

    /// The text after a mark, up to the next quotation mark.
    private static func value(of mark: String, in text: String) -> String? {
        guard let start = text.firstRange(of: mark)?.upperBound else { return nil }
        return String(text[start...].prefix { $0 != "\"" }).replacing("&amp;", with: "&")
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
