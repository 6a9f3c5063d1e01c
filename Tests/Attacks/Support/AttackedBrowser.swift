#if os(Linux)
import Foundation
import SignetCore
import SignetNetwork
import Testing

/// A browser at an attacked server: it keeps cookies, reads forms and follows redirects within the server.
struct AttackedBrowser {
    let server: AttackedServer
    var cookies: [String: String] = [:]

    /// Sends one request with the cookies, and follows no redirect.
    mutating func send(_ method: String, _ target: String, form: [String: String]? = nil) async throws -> HTTPResponse {
        var headers = cookies.isEmpty ? [] : [("Cookie", cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; "))]
        if form != nil { headers.append(("Content-Type", "application/x-www-form-urlencoded")) }
        let body = form.map { FormCoding.encode($0.map { ($0.key, $0.value) }) } ?? ""
        let response = try await server.send(method, target, headers, body: body)
        for line in response.headers.all("Set-Cookie") {
            let pair = line.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            cookies[pair[0]] = line.contains("Max-Age=0") ? nil : pair.count == 2 ? pair[1] : ""
        }
        return response
    }

    /// Follows the redirects of a response within the server.
    mutating func follow(_ first: HTTPResponse) async throws -> HTTPResponse {
        var response = first
        for _ in 0..<10 {
            guard (300..<400).contains(response.status), let target = target(of: response) else { break }
            response = try await send("GET", target)
        }
        return response
    }

    /// Requests a page and follows redirects.
    mutating func open(_ target: String) async throws -> HTTPResponse { try await follow(try await send("GET", target)) }

    /// Fills in the form of a page and sends it, without following the redirect.
    mutating func submit(_ page: HTTPResponse, _ values: [String: String]) async throws -> HTTPResponse {
        var fields: [String: String] = [:]
        for field in page.text.matches(of: /<input type="hidden" name="([^"]*)" value(?:="([^"]*)")?>/) {
            fields[String(field.1)] = field.2.map(String.init) ?? ""
        }
        return try await send("POST", try formTarget(of: page), form: fields.merging(values) { $1 })
    }

    /// Returns the target of the form on a page, below the context path: the address of the login flow.
    func formTarget(of page: HTTPResponse) throws -> String {
        let action = try #require(page.text.firstMatch(of: /<form method="post" action="([^"]*)"/)).1
        return String(action.dropFirst(AttackedServer.path.count)).replacing("&amp;", with: "&")
    }

    /// The target to which a response redirects, below the context path; nil outside the server.
    func target(of response: HTTPResponse) -> String? {
        guard var location = response.headers["Location"] else { return nil }
        for origin in ["http://127.0.0.1:\(server.port)", "http://localhost:\(server.port)"] where location.hasPrefix(origin) {
            location.removeFirst(origin.count)
        }
        guard location.hasPrefix(AttackedServer.path + "/") else { return nil }
        return String(location.dropFirst(AttackedServer.path.count).prefix { $0 != "#" })
    }

    /// The session cookie.
    var session: String? { cookies["iPlanetDirectoryPro"] }
}
#endif
