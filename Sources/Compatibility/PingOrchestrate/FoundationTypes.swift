public import Foundation
public import PingCommons
import SignetCore
package import SignetNetwork

// The only file with Foundation's types for requests, responses and cookies, which are in a module of their own on Linux.
#if canImport(FoundationNetworking)
@_exported public import FoundationNetworking
#endif

/// A response of a server.
public protocol Response: Sendable {
    /// The content.
    var data: Data { get }
    /// Returns the content as text.
    func body() async -> String
    /// Returns the HTTP status.
    func status() -> Int
    /// Returns the cookies that the response sets.
    func getCookies() -> [HTTPCookie]
    /// Returns the value of a header field; nil when the response has none with this name.
    func header(name: String) -> String?
    /// Returns the members of the JSON content.
    /// - Throws: The error of a content that is not JSON.
    func json() throws -> [String: Any]
}

extension Response {
    /// Returns the members of the JSON content; empty when it is not an object.
    /// - Throws: The error of a content that is not JSON.
    public func json() throws -> [String: Any] {
        (try JSON.value(of: data)).object?.mapValues(\.any) ?? [:]
    }

    /// The response in the form of the engine.
    package var message: HTTPResponse {
        (self as? HttpResponse)?.content ?? HTTPResponse(status: status(), body: Array(data))
    }
}

extension Request {
    /// The request in the form of Foundation.
    public var urlRequest: URLRequest {
        let message = message
        // "https://" stands for a request that has no address yet.
        var request = URLRequest(url: URL(string: message.url) ?? URL(fileURLWithPath: "/"))
        request.httpMethod = message.method
        for field in message.headers.fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        if !message.body.isEmpty { request.httpBody = Data(message.body) }
        return request
    }

    /// Replaces the whole request.
    public func url(_ urlRequest: URLRequest) {
        change { message in
            message.url = urlRequest.url?.absoluteString ?? message.url
            message.method = urlRequest.httpMethod ?? "GET"
            message.headers = [:]
            for (name, value) in urlRequest.allHTTPHeaderFields ?? [:] { message.headers.append(name, value) }
            message.body = Array(urlRequest.httpBody ?? Data())
        }
    }

    /// Adds cookies to those of the request.
    public func cookies(cookies: [HTTPCookie]) {
        guard !cookies.isEmpty else { return }
        change { message in
            let pairs = cookies.map { "\($0.name)=\($0.value)" }
            message.headers.set("Cookie", ((message.headers["Cookie"].map { [$0] } ?? []) + pairs).joined(separator: "; "))
        }
    }
}

extension HttpResponse {
    /// Creates a response from those of Foundation.
    public init(data: Data, response: URLResponse) {
        var content = HTTPResponse(status: 0, body: Array(data))
        if let response = response as? HTTPURLResponse {
            content.status = response.statusCode
            for case (let name as String, let value as String) in response.allHeaderFields {
                let values = name.lowercased() == "set-cookie" ? HTTPHeaders.cookies(joined: value) : [value]
                for value in values { content.headers.append(name, value) }
            }
        }
        self.init(content, to: response.url?.absoluteString ?? "")
    }

    /// The response in the form of Foundation.
    public var response: URLResponse {
        let address = URL(string: url) ?? URL(fileURLWithPath: "/")
        return HTTPURLResponse(url: address, statusCode: content.status, httpVersion: "HTTP/1.1", headerFields: fields)
            ?? URLResponse(url: address, mimeType: nil, expectedContentLength: content.body.count, textEncodingName: nil)
    }

    private var fields: [String: String] {
        Dictionary(content.headers.fields.map { ($0.name, $0.value) }) { "\($0), \($1)" }
    }

    /// Returns the cookies that the response sets.
    public func getCookies() -> [HTTPCookie] {
        guard let address = URL(string: url) else { return [] }
        return content.headers.all("Set-Cookie").flatMap {
            HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": $0], for: address)
        }
    }
}

extension HttpClient {
    /// Sends a request with the timeout of this client.
    /// - Parameter request: The request. Plain `http` is allowed to loopback addresses and to `plainHTTPHosts`.
    /// - Returns: The content and the response.
    /// - Throws: `TransportError`, or the error for an address that may not be used.
    public func sendRequest(request: Request) async throws -> (Data, URLResponse) {
        let response = try await send(request, timeout: requestTimeout, policy: .secure)
        return (response.data, response.response)
    }
}

extension CustomHTTPCookie {
    /// Creates a cookie from one of Foundation.
    public init(from cookie: HTTPCookie) {
        version = cookie.version
        name = cookie.name
        value = cookie.value
        expiresDate = cookie.expiresDate
        isSessionOnly = cookie.isSessionOnly
        domain = cookie.domain
        path = cookie.path
        isSecure = cookie.isSecure
        isHTTPOnly = cookie.isHTTPOnly
        comment = cookie.comment
        commentURL = cookie.commentURL
        portList = cookie.portList?.map(\.intValue)
        sameSitePolicy = cookie.properties?[HTTPCookiePropertyKey("SameSite")] as? String
    }

    /// Returns the cookie in the form of Foundation; nil when it lacks a name, a value, a domain or a path.
    public func toHTTPCookie() -> HTTPCookie? {
        guard let name, let value, let domain, let path else { return nil }
        var properties: [HTTPCookiePropertyKey: Any] = [
            .version: "\(version)", .name: name, .value: value, .domain: domain, .path: path,
        ]
        properties[.expires] = expiresDate
        if isSessionOnly { properties[.discard] = "TRUE" }
        if isSecure { properties[.secure] = "TRUE" }
        if isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        properties[.comment] = comment
        properties[.commentURL] = commentURL
        properties[.port] = portList.map { $0.map(String.init).joined(separator: ",") }
        properties[HTTPCookiePropertyKey("SameSite")] = sameSitePolicy
        return HTTPCookie(properties: properties)
    }
}
