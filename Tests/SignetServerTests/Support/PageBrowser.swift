import Foundation
import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

/// A browser without a window and scripts that keeps cookies, reads forms and sends what a test specifies.
final class PageBrowser {
    let server: TestServer
    private(set) var cookies: [String: String]

    init(_ server: TestServer, cookies: [String: String] = [:]) { (self.server, self.cookies) = (server, cookies) }

    /// Requests a page and follows redirects up to an address outside this server.
    func get(_ path: String) async throws -> Reply { try await follow(try await send(.get, path)) }

    /// Sends a form.
    func post(_ path: String, _ fields: [String: String?]) async throws -> Reply {
        try await follow(try await send(.post, path, TestServer.form(fields)))
    }

    /// Fills in the form of a page and sends it.
    func submit(_ page: Reply, _ values: [String: String?]) async throws -> Reply {
        try await post(try #require(page.formAction), page.hiddenFields.merging(values) { $1 })
    }

    /// Signs in on a page with fields for name and password.
    func signIn(_ page: Reply, name: String = "mira", password: String = TestServer.password) async throws -> Reply {
        try await submit(page, ["IDToken1": name, "IDToken2": password])
    }

    /// Sends one request with the cookies.
    func send(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> Reply {
        var headers: [String: String] = ["User-Agent": "PageBrowser"]
        if !cookies.isEmpty { headers["Cookie"] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
        if body != nil { headers["Content-Type"] = "application/x-www-form-urlencoded" }
        let reply = try await server.send(method, path, headers: headers, body: body)
        for cookie in reply.cookies {
            let pair = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            cookies[String(pair[0])] = cookie.contains("Max-Age=0") ? nil : String(pair.count == 2 ? pair[1] : "")
        }
        return reply
    }

    private func follow(_ first: Reply) async throws -> Reply {
        var reply = first
        for _ in 0..<10 {
            guard (300..<400).contains(reply.status), var location = reply.header("Location") else { return reply }
            location = location.replacingOccurrences(of: "http://127.0.0.1:8080", with: "")
            guard location.hasPrefix("/am/") else { return reply }
            reply = try await send(.get, String(location.prefix { $0 != "#" }))
        }
        return reply
    }
}

extension Reply {
    var heading: String? { text.captures("<h1>(.*?)</h1>").first?[0] }

    var formAction: String? { text.captures("<form method=\"post\" action=\"([^\"]*)\"").first?[0].unescaped }

    var hiddenFields: [String: String?] {
        let pairs = text.captures("<input type=\"hidden\" name=\"([^\"]*)\" value(?:=\"([^\"]*)\")?>")
        return Dictionary(pairs.map { ($0[0].unescaped, $0[1].unescaped) }, uniquingKeysWith: { $1 })
    }
}

extension String {
    /// Returns the groups that a pattern captures in each match.
    func captures(_ pattern: String) -> [[String]] {
        guard let expression = try? NSRegularExpression(pattern: pattern, options: .dotMatchesLineSeparators) else { return [] }
        return expression.matches(in: self, range: NSRange(startIndex..., in: self)).map { match in
            (1..<match.numberOfRanges).map { Range(match.range(at: $0), in: self).map { String(self[$0]) } ?? "" }
        }
    }

    /// The text that this HTML source represents.
    var unescaped: String {
        replacingOccurrences(of: "&lt;", with: "<").replacingOccurrences(of: "&gt;", with: ">")
            .replacingOccurrences(of: "&quot;", with: "\"").replacingOccurrences(of: "&#39;", with: "'")
            .replacingOccurrences(of: "&amp;", with: "&")
    }
}
