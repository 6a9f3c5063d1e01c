#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Which entries of a ``RequestLog`` are wanted: those that have everything that is said here.
///
///     server.journal(matching: JournalFilter { $0.resource = "accessToken"; $0.status = 400 })
public struct RequestLogFilter: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of entries.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// ``RequestLogEntry/Event/request(_:)``
        case request
        /// ``RequestLogEntry/Event/push(_:)``
        case push
        /// ``RequestLogEntry/Event/letter(_:)``
        case letter
        /// ``RequestLogEntry/Event/sns(_:)``
        case sns
    }

    /// Entries of this kind only.
    public var kind: Kind?
    /// Requests with this method; upper and lower case are the same.
    public var method: String?
    /// Requests to a path: with or without the context path; `*` stands for one segment, `**` at the end for any number of them.
    public var path: String?
    /// Requests for a resource, by its name (``FaultRoute``).
    public var resource: String?
    /// Requests, and requests to SNS, that were answered with this status; 0 for those that got no answer.
    public var status: Int?
    /// Requests that brought a parameter of this name.
    public var parameter: String?
    /// Push messages that have come to this step.
    public var step: RequestLogEntry.Push.Step?
    /// Letters to the user of this name.
    public var user: String?
    /// Requests to SNS for this, for example `Publish`.
    public var action: String?
    /// Entries with a higher ``RequestLogEntry/number``.
    public var after: Int?
    /// Entries from this moment on, by the server's clock.
    public var since: Date?
    /// Entries of a client.
    public var client: ClientMatch?
    /// Entries that the fault of this name was applied to.
    public var fault: String?

    /// Everything, unless `configure` says otherwise.
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
        case .letter(let letter): return matches(letter)
        case .sns(let request): return matches(request)
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

    private func matches(_ letter: RequestLogEntry.Email) -> Bool {
        guard kind ?? .letter == .letter, asksForNoRequest, status == nil, step == nil, action == nil, client == nil
        else { return false }
        return user ?? letter.user == letter.user
    }

    private var asksForNoRequest: Bool { method == nil && path == nil && resource == nil && parameter == nil }

    private func matches(_ request: RequestLogEntry.SNSRequest) -> Bool {
        guard kind ?? .sns == .sns, asksForNoRequest, step == nil, client == nil, user == nil else { return false }
        if let action, action != request.action { return false }
        if let status, status != request.status { return false }
        return true
    }

    /// What is asked for, for a person.
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

/// Whose requests are meant.
public enum ClientMatch: Sendable, Hashable, CustomStringConvertible {
    /// An OAuth 2.0 client, by its id.
    case oauth(String)
    /// A push device, by the id of its mechanism.
    case device(String)
    /// Clients whose `User-Agent` contains this; upper and lower case are the same.
    case userAgent(String)
    /// An IP address, as the server sees it.
    case address(String)

    /// Whether this is the client that is meant.
    func matches(_ client: RequestLogEntry.Client) -> Bool {
        switch self {
        case .oauth(let id): client.oauth == id
        case .device(let id): client.device == id
        case .userAgent(let text): client.userAgent?.lowercased().contains(text.lowercased()) == true
        case .address(let address): client.address == address
        }
    }

    /// What it is called in JSON: `oauth`, `device`, `userAgent`, `address`.
    var kind: String {
        switch self {
        case .oauth: "oauth"
        case .device: "device"
        case .userAgent: "userAgent"
        case .address: "address"
        }
    }

    var value: String {
        switch self {
        case .oauth(let value), .device(let value), .userAgent(let value), .address(let value): value
        }
    }

    init?(kind: String, value: String) {
        switch kind {
        case "oauth": self = .oauth(value)
        case "device": self = .device(value)
        case "userAgent": self = .userAgent(value)
        case "address": self = .address(value)
        default: return nil
        }
    }

    /// The kind and the value.
    public var description: String { "\(kind) \(value)" }
}

/// A path in which `*` stands for one segment, and `**` at the end for any number of them.
struct PathPattern: Sendable, Hashable {
    let segments: [Substring]

    init(_ text: String) { segments = text.split(separator: "/") }

    /// Whether it is the path, or what follows the context path in it.
    func matches(_ path: String, below contextPath: String) -> Bool {
        if matches(path[...]) { return true }
        return path.hasPrefix("\(contextPath)/") && matches(path.dropFirst(contextPath.count))
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
