public import Foundation

/// A filter for the entries of a ``RequestLog``.
///
/// An entry matches when it fulfills every condition that is set.
///
///     server.requestLog(matching: RequestLogFilter { $0.resource = "accessToken"; $0.status = 400 })
public struct RequestLogFilter: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of entries.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// ``RequestLogEntry/Event/request(_:)``
        case request
        /// ``RequestLogEntry/Event/push(_:)``
        case push
        /// ``RequestLogEntry/Event/email(_:)``
        case email
        /// ``RequestLogEntry/Event/sns(_:)``
        case sns
        /// ``RequestLogEntry/Event/logout(_:)``
        case logout
    }

    /// Matches only entries of this kind.
    public var kind: Kind?
    /// Matches requests with this method, ignoring case.
    public var method: String?
    /// Matches requests to a path, with or without the context path.
    ///
    /// `*` matches one segment, `**` at the end matches any number of segments.
    public var path: String?
    /// Matches requests for a resource, by its name (``FaultRoute``).
    public var resource: String?
    /// Matches requests, requests to SNS and logout tokens with this response status; 0 for those without a response.
    public var status: Int?
    /// Matches requests with a parameter of this name.
    public var parameter: String?
    /// Matches push message events with this step.
    public var step: RequestLogEntry.Push.Step?
    /// Matches emails to the user with this name.
    public var user: String?
    /// Matches requests to SNS with this action, for example `Publish`.
    public var action: String?
    /// Matches entries with a higher ``RequestLogEntry/number``.
    public var after: Int?
    /// Matches entries from this time on, by the server's clock.
    public var since: Date?
    /// Matches entries of this client.
    public var client: ClientMatch?
    /// Matches entries that the fault with this name was applied to.
    public var fault: String?

    /// Creates a filter that matches every entry, and lets `configure` add conditions.
    public init(_ configure: (inout Self) -> Void = { _ in }) {
        configure(&self)
    }

    func matches(_ entry: RequestLogEntry, contextPath: String) -> Bool {
        if let after, entry.number <= after { return false }
        if let since, entry.at < since { return false }
        if let fault, !entry.faults.contains(fault) { return false }
        switch entry.event {
        case .request(let request): return matches(request, contextPath)
        case .push(let push): return matches(push)
        case .email(let email): return matches(email)
        case .sns(let request): return matches(request)
        case .logout(let logout): return matches(logout)
        }
    }

    private func matches(_ request: RequestLogEntry.Request, _ contextPath: String) -> Bool {
        guard kind ?? .request == .request, step == nil, action == nil, user == nil else { return false }
        if let method, method.uppercased() != request.method.uppercased() { return false }
        if let path, !PathPattern(path).matches(request.path, below: contextPath) { return false }
        if let resource, resource != request.resource { return false }
        if let status, status != request.status { return false }
        if let parameter, !request.has(parameter) { return false }
        return client?.matches(request.client) ?? true
    }

    private func matches(_ push: RequestLogEntry.Push) -> Bool {
        guard kind ?? .push == .push, asksForNoRequest, status == nil, action == nil, user == nil else { return false }
        if let step, step != push.step { return false }
        guard let client else { return true }
        var owner = RequestLogEntry.Client()
        owner.device = push.device
        return client.matches(owner)
    }

    private func matches(_ email: RequestLogEntry.Email) -> Bool {
        guard kind ?? .email == .email, asksForNoRequest, status == nil, step == nil, action == nil, client == nil
        else { return false }
        return user ?? email.user == email.user
    }

    private var asksForNoRequest: Bool { method == nil && path == nil && resource == nil && parameter == nil }

    private func matches(_ request: RequestLogEntry.SNSRequest) -> Bool {
        guard kind ?? .sns == .sns, asksForNoRequest, step == nil, client == nil, user == nil else { return false }
        if let action, action != request.action { return false }
        if let status, status != request.status { return false }
        return true
    }

    private func matches(_ logout: RequestLogEntry.Logout) -> Bool {
        guard kind ?? .logout == .logout, asksForNoRequest, step == nil, action == nil, user == nil else { return false }
        if let status, status != logout.status { return false }
        guard let client else { return true }
        var receiver = RequestLogEntry.Client()
        receiver.oauth = logout.client
        return client.matches(receiver)
    }

    /// The conditions as text for a tester.
    public var description: String {
        let parts: [(String, String?)] = [
            ("kind", kind?.rawValue), ("method", method), ("path", path), ("resource", resource),
            ("status", status.map(String.init)),
            ("parameter", parameter), ("step", step?.rawValue), ("user", user), ("action", action),
            ("after", after.map(String.init)),
            ("since", since?.ISO8601Format()), ("client", client?.description), ("fault", fault),
        ]
        let given = parts.compactMap { name, value in value.map { "\(name) \($0)" } }
        return given.isEmpty ? "anything" : given.joined(separator: ", ")
    }
}

/// A condition that identifies a client.
public struct ClientMatch: Sendable, Hashable, CustomStringConvertible {
    /// The properties of a client that a condition can test, with their names in JSON.
    enum Kind: String, CaseIterable {
        case oauth, device, userAgent, address
    }

    let kind: Kind
    let value: String

    /// Matches the OAuth 2.0 client with this ID.
    public static func oauth(_ id: String) -> ClientMatch { ClientMatch(kind: .oauth, value: id) }
    /// Matches the push device whose mechanism has this ID.
    public static func device(_ id: String) -> ClientMatch { ClientMatch(kind: .device, value: id) }
    /// Matches the clients whose `User-Agent` contains this text, ignoring case.
    public static func userAgent(_ text: String) -> ClientMatch { ClientMatch(kind: .userAgent, value: text) }
    /// Matches the clients with this IP address, as the server sees it.
    public static func address(_ address: String) -> ClientMatch { ClientMatch(kind: .address, value: address) }

    /// Returns true when a client fulfills the condition.
    func matches(_ client: RequestLogEntry.Client) -> Bool {
        switch kind {
        case .oauth: client.oauth == value
        case .device: client.device == value
        case .userAgent: client.userAgent?.lowercased().contains(value.lowercased()) == true
        case .address: client.address == value
        }
    }

    /// The kind and the value.
    public var description: String { "\(kind) \(value)" }
}

/// A path pattern in which `*` matches one segment, and `**` at the end matches any number of segments.
struct PathPattern: Sendable, Hashable {
    let segments: [Substring]

    init(_ text: String) { segments = text.split(separator: "/") }

    /// Returns true when the pattern matches a path, or the part of it after the context path.
    func matches(_ path: String, below contextPath: String) -> Bool {
        if matches(path[...]) { return true }
        return path.below(contextPath: contextPath).map { matches($0) } ?? false
    }

    func matches(_ path: Substring) -> Bool {
        let parts = path.split(separator: "/")
        guard segments.last == "**" else {
            return parts.count == segments.count && zip(segments, parts).allSatisfy { $0 == "*" || $0 == $1 }
        }
        let head = segments.dropLast()
        return parts.count >= head.count && zip(head, parts).allSatisfy { $0 == "*" || $0 == $1 }
    }
}
