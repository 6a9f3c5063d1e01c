import Foundation
import SignetCore
package import SignetNetwork

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A request to a server.
public struct Request: Sendable, Hashable {
    /// The content type of a body.
    public enum ContentType: String, Sendable, CaseIterable {
        /// Text without a structure, which this type can't send.
        case plainText = "text/plain"
        /// A JSON object.
        case json = "application/json"
        /// The fields of a form.
        case urlEncoded = "application/x-www-form-urlencoded"
    }

    // The names are the ForgeRock SDK's.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The method of a request.
    public enum HTTPMethod: String, Sendable, CaseIterable {
        /// GET.
        case GET
        /// PUT.
        case PUT
        /// POST.
        case POST
        /// DELETE.
        case DELETE
    }

    /// The absolute address; its query may be here, in ``urlParams``, or in both.
    public let url: String
    /// The method.
    public let method: HTTPMethod
    /// The header fields.
    ///
    /// When several fields of a request of the SDK have the same name, this has the last one.
    public private(set) var headers: [String: String]
    /// The query's parameters.
    public let urlParams: [String: String]
    /// The content type of the body, which is sent as `Content-Type`.
    public let requestType: ContentType
    /// The content type of the expected answer, which is sent as `Accept`.
    public let responseType: ContentType?
    /// The timeout in seconds.
    public let timeoutInterval: Double

    private let members: [String: JSONValue]

    /// The members of the body.
    ///
    /// The body of a GET or DELETE request is not sent.
    public var bodyParams: [String: Any] { members.mapValues(\.any) }

    /// Creates a request.
    /// - Parameters:
    ///   - url: The absolute address.
    ///   - method: The method.
    ///   - headers: The header fields, which replace those that the types make.
    ///   - bodyParams: The members of the body. A member that JSON can't express is left out.
    ///   - urlParams: The query's parameters.
    ///   - requestType: The content type of the body.
    ///   - responseType: The content type of the expected answer.
    ///   - timeoutInterval: The timeout in seconds.
    public init(
        url: String, method: HTTPMethod, headers: [String: String] = [:], bodyParams: [String: Any] = [:],
        urlParams: [String: String] = [:], requestType: ContentType = .json, responseType: ContentType? = .json,
        timeoutInterval: Double = 60
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.urlParams = urlParams
        self.requestType = requestType
        self.responseType = responseType
        self.timeoutInterval = timeoutInterval
        members = bodyParams.compactMapValues { JSONValue(any: $0) }
    }

    /// Adds header fields, which replace those of the same name.
    public mutating func updateHeader(headers: [String: String]) {
        self.headers.merge(headers) { $1 }
    }

    /// Returns the request in the form of `URLSession`; nil when the address can't be used.
    public func build() -> URLRequest? {
        guard let message, let url = URL(string: message.url) else { return nil }
        var request = URLRequest(url: url, timeoutInterval: timeoutInterval)
        request.httpMethod = message.method
        for field in message.headers.fields { request.setValue(field.value, forHTTPHeaderField: field.name) }
        if !message.body.isEmpty { request.httpBody = Data(message.body) }
        return request
    }

    /// The request in the form of the engine; nil when the address can't be used.
    var message: HTTPRequest? {
        let address = url.replacingQuery(with: urlParams, besides: [:])
        guard let address, address.isValidUrl else { return nil }
        var message = HTTPRequest(method.rawValue, address, timeout: .seconds(max(0, timeoutInterval)))
        message.headers.set("Content-Type", requestType.rawValue)
        if let responseType { message.headers.set("Accept", responseType.rawValue) }
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { message.headers.set(name, value) }
        message = SDKIdentification.forgeRock().identify(message)
        if method == .POST || method == .PUT { message.body = RequestBody.encode(members, requestType) }
        return message
    }
}

extension Request: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method, and the address without its query.
    public var description: String { "\(method.rawValue) \(url.prefix { $0 != "?" })" }

    /// The method, the address without its query, the types, the timeout, and the names of the headers and parameters.
    ///
    /// Their values are left out, because they can be secrets.
    public var debugDescription: String {
        func list(_ names: some Collection<String>) -> String { names.sorted().joined(separator: ", ") }
        return """
            \(description) (\(requestType.rawValue), accepts \(responseType?.rawValue ?? "anything"), \(timeoutInterval) s)
            query: \(list(urlParams.keys)); headers: \(list(headers.keys)); body: \(list(members.keys))
            """
    }

    /// An empty mirror, because headers, query and body can contain secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Request {
    /// Creates the view of a request of the SDK that interceptors get.
    ///
    /// Returns nil for a method that interceptors don't know.
    package init?(_ message: HTTPRequest) {
        guard let method = HTTPMethod(rawValue: message.method) else { return nil }
        let type = message.headers["Content-Type"].flatMap { ContentType(rawValue: String($0.prefix { $0 != ";" })) }
        self.method = method
        url = String(message.url.prefix { $0 != "?" })
        urlParams = FormCoding.query(of: message.url)
        headers = Dictionary(message.headers.fields.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        requestType = type ?? .json
        responseType = message.headers["Accept"].flatMap { ContentType(rawValue: $0) }
        timeoutInterval = message.timeout / .seconds(1)
        members = RequestBody.members(of: message.body, type ?? .json)
    }

    /// Returns the request of the SDK with the parts that interceptors changed.
    /// - Parameters:
    ///   - message: The request of the SDK.
    ///   - original: Its view, which the first interceptor got.
    /// - Returns: The request to send. A part that is the same in both views is sent as the SDK made it.
    package func changes(of message: HTTPRequest, from original: Request) -> HTTPRequest {
        guard self != original else { return message }
        var changed = message
        changed.method = method.rawValue
        if url != original.url || urlParams != original.urlParams {
            let query = message.url.drop { $0 != "?" }
            changed.url =
                (url == original.url
                    ? (url + query).replacingQuery(with: urlParams, besides: original.urlParams)
                    : url.replacingQuery(with: urlParams, besides: [:])) ?? url
        }
        if headers != original.headers {
            changed.headers = [:]
            for (name, value) in headers.sorted(by: { $0.key < $1.key }) { changed.headers.append(name, value) }
        }
        if requestType != original.requestType { changed.headers.set("Content-Type", requestType.rawValue) }
        if let responseType, responseType != original.responseType { changed.headers.set("Accept", responseType.rawValue) }
        if members != original.members || requestType != original.requestType {
            changed.body = RequestBody.encode(members, requestType)
        }
        if method == .GET || method == .DELETE { changed.body = [] }
        if timeoutInterval != original.timeoutInterval { changed.timeout = .seconds(max(0, timeoutInterval)) }
        return changed
    }
}

extension String {
    /// Returns this address with parameters in its query.
    /// - Parameters:
    ///   - parameters: The parameters.
    ///   - replaced: The parameters that the query may lose; one that is equal in both keeps its place and spelling.
    /// - Returns: The address; nil when it can't be read. Other parameters of the query stay.
    fileprivate func replacingQuery(with parameters: [String: String], besides replaced: [String: String]) -> String? {
        let removed = Set(replaced.filter { parameters[$0.key] != $0.value }.keys)
        let added = parameters.filter { replaced[$0.key] != $0.value }
        let query = split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first ?? ""
        let base = prefix { $0 != "?" }
        guard !base.isEmpty else { return nil }
        let kept = query.split(separator: "&").filter { part in
            let name = FormCoding.decode(String(part)).keys.first ?? ""
            return !removed.contains(name) && added[name] == nil
        }
        let fields = added.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        let parts = kept.map { String($0) } + (fields.isEmpty ? [] : [FormCoding.encode(fields)])
        return parts.isEmpty ? String(base) : "\(base)?\(parts.joined(separator: "&"))"
    }
}
