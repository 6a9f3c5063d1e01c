import Foundation
import JWTKit
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// The development server on a port of this machine, with the configuration of docs/reference/openid-conformance.md.
///
/// The tests of the OpenID plans see only what it answers over HTTP.
struct ProviderUnderTest {
    let configuration: ServerConfiguration
    let clock: ManualClock
    let transport: AsyncHTTPTransport
    /// The address of the server without the path, for example `http://127.0.0.1:43121`.
    let origin: String
    /// The answer with the discovery document.
    let discovery: WebAnswer

    static let redirectURI = "https://localhost.emobix.co.uk:8443/test/a/signet/callback"
    static let postLogoutURI = "https://localhost.emobix.co.uk:8443/test/a/signet/post_logout_redirect"

    private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/reference/openid-conformance.md")

    /// Returns the configuration that the page tells its readers to use.
    static func documented() throws -> ServerConfiguration {
        let text = try String(contentsOf: page, encoding: .utf8)
        let start = try #require(text.firstRange(of: "```yaml\n"))
        let example = String(text[start.upperBound...]).components(separatedBy: "```")[0]
        var configuration = try ServerConfiguration(yaml: example)
        configuration.signingKey = TestServer.signingKey
        return configuration
    }

    /// Runs `body` with a server over plain http.
    /// - Parameters:
    ///   - configure: Changes the documented configuration.
    ///   - body: The code that uses the server.
    /// - Throws: The error of `body`.
    static func run(
        _ configure: (inout ServerConfiguration) -> Void = { _ in }, _ body: (ProviderUnderTest) async throws -> Void
    ) async throws {
        var changed = try documented()
        configure(&changed)
        let (configuration, clock) = (changed, ManualClock())
        try await TestServer.live(configuration, clock: clock) { server in
            try await body(
                try await ProviderUnderTest(configuration, clock: clock, transport: server.transport, url: server.url))
        }
    }

    /// Runs `body` with a server over https, as the suite requires of every address in a discovery document.
    static func runSecure(_ body: (ProviderUnderTest) async throws -> Void) async throws {
        try await TemporaryDirectory.with { directory in
            let tls = ServerTLS.ownAuthority(directory: directory.file("tls"))
            let authority = try #require(tls.authorityFile)
            var changed = try documented()
            changed.tls = tls
            // The client checks the certificate at the time of this machine.
            let (configuration, clock) = (changed, ManualClock(SystemWallClock().now))
            try await TestServer.live(configuration, clock: clock) { server in
                try await AsyncHTTPTransport(authorities: .file(authority)).use { transport in
                    try await body(
                        try await ProviderUnderTest(configuration, clock: clock, transport: transport, url: server.url))
                }
            }
        }
    }

    private init(
        _ configuration: ServerConfiguration, clock: ManualClock, transport: AsyncHTTPTransport, url: String
    ) async throws {
        self.configuration = configuration
        self.clock = clock
        self.transport = transport
        origin = String(url.dropLast("/am".count))
        discovery = try await transport.answer("GET", "\(url)/oauth2/.well-known/openid-configuration")
        #expect(discovery.status == 200)
        #expect(discovery.headers["Content-Type"]?.hasPrefix("application/json") == true)
    }

    /// The members of the discovery document.
    var metadata: [String: JSONValue] { discovery.json.object ?? [:] }

    /// Returns the address of an endpoint in the discovery document.
    func endpoint(_ name: String) throws -> String { try #require(metadata[name]?.string) }

    /// Returns the texts of a list in the discovery document.
    func list(_ name: String) -> [String] { metadata[name]?.array?.compactMap { $0.string } ?? [] }

    /// Sends a request without cookies, as a program does.
    func send(
        _ method: String, _ endpoint: String, headers: [String: String] = [:], _ form: [String: String?]? = nil
    ) async throws -> WebAnswer {
        try await transport.answer(method, try self.endpoint(endpoint), headers: headers, form.map { TestServer.form($0) })
    }

    /// Returns the header and the claims of a signed token, verified by jwt-kit with the keys that the server publishes.
    func verified(_ token: String) async throws -> (header: [String: JSONValue], claims: [String: JSONValue]) {
        let keys = try await send("GET", "jwks_uri")
        let claims = try await JWTKeyCollection().add(jwksJSON: keys.text).verify(token, as: AnyClaims.self).members
        let header = try JSON.value(of: try Base64.decode(String(token.prefix { $0 != "." })))
        let known = try #require(keys.json["keys"]?.array).map { $0["kid"] }
        #expect(header["alg"] == "RS256")
        #expect(header["kid"] != nil && known.contains(header["kid"]))
        return (header.object ?? [:], claims)
    }
}

/// An answer of the server.
struct WebAnswer: Sendable, Hashable {
    /// The address that was asked.
    let url: String
    let status: Int
    let headers: SignetNetwork.HTTPHeaders
    let text: String

    var json: JSONValue { (try? JSON.value(of: text.utf8)) ?? .null }
    var error: String? { json["error"]?.string }

    /// True for a page that is meant for a person.
    var isPage: Bool { headers["Content-Type"]?.hasPrefix("text/html") == true }

    var heading: String? { text.captures("<h1>(.*?)</h1>").first?[0].unescaped }

    /// The text of the page without markup.
    var words: String {
        let body = text.captures("<main>(.*?)</main>").first?[0] ?? text
        return body.replacing(#/<[^>]*>/#, with: " ").unescaped
    }

    /// The first form of the page.
    var form: WebForm? {
        guard isPage, let found = text.captures("<form([^>]*)>(.*?)</form>").first else { return nil }
        return WebForm(attributes: found[0], content: found[1])
    }

    /// True for the login page.
    var isLogin: Bool { isPage && text.contains("name=\"IDToken1\"") }
}

/// A form on a page.
struct WebForm: Sendable, Hashable {
    let method: String
    let action: String
    let encoding: String?
    /// The values of the hidden fields.
    let hidden: [String: String]
    let buttonCount: Int

    init(attributes: String, content: String) {
        method = Self.attribute("method", of: attributes)?.lowercased() ?? "get"
        action = Self.attribute("action", of: attributes) ?? ""
        encoding = Self.attribute("enctype", of: attributes)
        let inputs = content.captures("<input([^>]*)>").map { $0[0] }
        var fields: [String: String] = [:]
        for input in inputs where Self.attribute("type", of: input) == "hidden" {
            if let name = Self.attribute("name", of: input) { fields[name] = Self.attribute("value", of: input) ?? "" }
        }
        hidden = fields
        buttonCount = content.captures("(<button)").count
    }

    private static func attribute(_ name: String, of tag: String) -> String? {
        tag.captures(" \(name)=\"([^\"]*)\"").first?[0].unescaped
    }
}

extension AsyncHTTPTransport {
    /// Sends a request, with a form if there is one.
    func answer(
        _ method: String, _ url: String, headers: [String: String] = [:], _ form: String? = nil
    ) async throws -> WebAnswer {
        var request = SignetNetwork.HTTPRequest(method, url)
        for (name, value) in headers { request.headers.set(name, value) }
        if let form {
            request.headers.set("Content-Type", "application/x-www-form-urlencoded")
            request.body = Array(form.utf8)
        }
        let response = try await send(request)
        return WebAnswer(
            url: url, status: response.status, headers: response.headers, text: String(decoding: response.body, as: UTF8.self))
    }
}

/// A browser without a window and scripts: it keeps cookies, follows redirects, and stops at an address outside of the server.
final class WebBrowser {
    private let provider: ProviderUnderTest
    private var cookies: [String: String] = [:]

    init(_ provider: ProviderUnderTest) { self.provider = provider }

    /// Opens an address.
    func open(_ url: String) async throws -> WebAnswer { try await follow(try await send("GET", url)) }

    /// Sends a form to an address.
    func post(_ url: String, _ fields: [String: String?]) async throws -> WebAnswer {
        try await follow(try await send("POST", url, TestServer.form(fields)))
    }

    /// Fills in a form of this server and presses its first button.
    func submit(_ form: WebForm, _ values: [String: String] = [:]) async throws -> WebAnswer {
        let fields = form.hidden.merging(values) { $1 }.mapValues { Optional($0) }
        let address = form.action.hasPrefix("/") ? provider.origin + form.action : form.action
        try #require(address.hasPrefix(provider.origin + "/"), "the form leads to \(form.action)")
        return try await post(address, fields)
    }

    private func send(_ method: String, _ url: String, _ form: String? = nil) async throws -> WebAnswer {
        var headers = ["Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"]
        if !cookies.isEmpty { headers["Cookie"] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
        let answer = try await provider.transport.answer(method, url, headers: headers, form)
        for cookie in answer.headers.all("Set-Cookie") {
            let pair = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            cookies[String(pair[0])] = cookie.contains("Max-Age=0") ? nil : String(pair.count == 2 ? pair[1] : "")
        }
        return answer
    }

    private func follow(_ first: WebAnswer) async throws -> WebAnswer {
        var answer = first
        for _ in 0..<10 {
            guard (300..<400).contains(answer.status), var location = answer.headers["Location"] else { return answer }
            if location.hasPrefix("/") { location = provider.origin + location }
            guard location.hasPrefix(provider.origin + "/") else { return answer }
            answer = try await send("GET", String(location.prefix { $0 != "#" }))
        }
        return answer
    }
}
