import Foundation
import HTTPTypes
import Hummingbird
import SignetCore

/// The JSON body of a request to the administration API.
///
/// An unknown member is an error, because a misspelled member would be ignored otherwise.
struct AdminBody: Sendable {
    private var members: [String: JSONValue]

    init(_ request: Request, _ context: AppRequestContext) async throws {
        members = try await request.json(context).object ?? [:]
    }

    mutating func text(_ name: String) throws(APIError) -> String? { try take(name, "a string") { $0.string } }
    mutating func bool(_ name: String) throws(APIError) -> Bool? { try take(name, "true or false") { $0.bool } }
    mutating func texts(_ name: String) throws(APIError) -> [String]? {
        try take(name, "a list of strings") { value in
            guard let elements = value.array, !elements.isEmpty else { return nil }
            let texts = elements.compactMap(\.string)
            return texts.count == elements.count ? texts : nil
        }
    }
    mutating func object(_ name: String) throws(APIError) -> [String: JSONValue]? { try take(name, "an object") { $0.object } }

    mutating func number(_ name: String) throws(APIError) -> Double? {
        try take(name, "a number") { value in
            switch value {
            case .integer(let number): Double(number)
            case .number(let number) where number.isFinite: number
            default: nil
            }
        }
    }

    mutating func integer(_ name: String) throws(APIError) -> Int? {
        try take(name, "an integer") { value in if case .integer(let number) = value { Int(exactly: number) } else { nil } }
    }

    /// Reads a time: seconds since 1970, or `2026-01-31T12:00:00Z`.
    mutating func date(_ name: String) throws(APIError) -> Date? {
        try take(name, "a number of seconds since 1970, or a time such as 2026-01-31T12:00:00Z") { value in
            switch value {
            case .integer(let seconds): Date(timeIntervalSince1970: Double(seconds))
            case .number(let seconds) where seconds.isFinite: Date(timeIntervalSince1970: seconds)
            case .string(let text): AdminQuery.date(text)
            default: nil
            }
        }
    }

    func required<Value>(_ name: String, _ value: Value?) throws(APIError) -> Value {
        guard let value else { throw APIError(.badRequest, "'\(name)' is missing.") }
        return value
    }

    /// Checks that all members were read.
    /// - Throws: An error when there are unread members.
    func end() throws(APIError) {
        guard let name = members.keys.sorted().first else { return }
        throw APIError(.badRequest, "Unknown parameter '\(name.prefix(64))'.")
    }

    private mutating func take<Value>(
        _ name: String, _ what: String, _ read: (JSONValue) -> Value?
    ) throws(APIError) -> Value? {
        guard let member = members.removeValue(forKey: name), member != .null else { return nil }
        guard let value = read(member) else { throw APIError(.badRequest, "'\(name)' is \(what).") }
        return value
    }
}

/// The query of a request to the administration API.
struct AdminQuery: Sendable {
    private let fields: [String: String]

    /// Reads the query.
    /// - Parameters:
    ///   - request: The request that contains the query.
    ///   - names: The names that the request can contain.
    /// - Throws: An error when the query contains another name, or a name twice.
    init(_ request: Request, knows names: [String] = []) throws(APIError) {
        let query = request.uri.query ?? ""
        fields = FormCoding.decode(query)
        guard fields.count == query.utf8.split(separator: UInt8(ascii: "&")).count else {
            throw APIError(.badRequest, "A parameter is given more than once.")
        }
        if let name = fields.keys.sorted().first(where: { !names.contains($0) }) {
            throw APIError(.badRequest, "Unknown parameter '\(name.prefix(64))'.")
        }
    }

    func text(_ name: String) -> String? { fields[name] }

    func number(_ name: String, _ range: ClosedRange<Int>) throws(APIError) -> Int? {
        guard let text = text(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw APIError(.badRequest, "'\(name)' is a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    func seconds(_ name: String, upTo limit: Double) throws(APIError) -> Double? {
        guard let text = text(name) else { return nil }
        guard let number = Double(text), (0...limit).contains(number) else {
            throw APIError(.badRequest, "'\(name)' is a number of seconds, at most \(Int(limit)).")
        }
        return number
    }

    func date(_ name: String) throws(APIError) -> Date? {
        guard let text = text(name) else { return nil }
        if let seconds = Double(text), seconds.isFinite { return Date(timeIntervalSince1970: seconds) }
        guard let date = Self.date(text) else {
            throw APIError(.badRequest, "'\(name)' is a number of seconds since 1970, or a time such as 2026-01-31T12:00:00Z.")
        }
        return date
    }

    func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String
    ) throws(APIError) -> Choice? where Choice.RawValue == String {
        guard let text = text(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw APIError(.badRequest, "'\(name)' is one of \(Choice.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return choice
    }

    static func date(_ text: String) -> Date? { try? Date(text, strategy: .iso8601) }
}

extension RequestLogFilter {
    /// The names of the conditions in a query.
    static let parameters =
        ["kind", "method", "path", "resource", "status", "parameter", "step", "user", "action", "after", "since", "fault"]
        + ClientMatch.Kind.allCases.map(\.rawValue)

    /// Reads a filter from a query.
    init(_ query: AdminQuery) throws(APIError) {
        self.init()
        kind = try query.choice("kind")
        method = query.text("method")
        path = query.text("path")
        resource = query.text("resource")
        if let resource, !FaultRoute.names.contains(resource) {
            throw APIError(.badRequest, "'resource' is one of \(FaultRoute.names.joined(separator: ", ")).")
        }
        status = try query.number("status", 0...999)
        parameter = query.text("parameter")
        step = try query.choice("step")
        user = query.text("user")
        action = query.text("action")
        after = try query.number("after", 0...Int.max)
        since = try query.date("since")
        fault = query.text("fault")
        for kind in ClientMatch.Kind.allCases {
            guard let value = query.text(kind.rawValue) else { continue }
            guard client == nil else { throw APIError(.badRequest, "Give only one parameter that names the client.") }
            client = ClientMatch(kind: kind, value: value)
        }
    }
}

extension FaultRule {
    /// Reads a rule from a body.
    init(_ body: inout AdminBody, now: Date) throws {
        let kind = try FaultKind(&body)
        let name = try body.text("name")
        let route = try body.text("route").map { FaultRoute($0) } ?? .everywhere
        var client: ClientMatch?
        if let members = try body.object("client") {
            guard members.count == 1, let member = members.first, let value = member.value.string,
                let kind = ClientMatch.Kind(rawValue: member.key)
            else { throw FaultError.parameter("client", "has one member: oauth, device, userAgent or address, and its text") }
            client = ClientMatch(kind: kind, value: value)
        }
        let (times, seconds, until) = (try body.integer("times"), try body.number("seconds"), try body.date("until"))
        var extents: [Extent] = []
        if let times { extents.append(.times(times)) }
        if let seconds { extents.append(.until(now.addingTimeInterval(seconds))) }
        if let until { extents.append(.until(until)) }
        guard extents.count <= 1 else {
            throw FaultError.parameter("times", "excludes 'seconds' and 'until', and each of those the others")
        }
        self.init(kind, name: name, at: route, for: client, extents.first ?? .untilDisabled)
        isExecuted = try body.bool("executed")
    }
}

extension FaultKind {
    /// Reads the kind and its parameters from a body.
    init(_ body: inout AdminBody) throws {
        let name = try body.required("kind", body.text("kind"))
        switch name {
        case "latency", "slow-body":
            let duration = Duration.milliseconds(try body.required("milliseconds", body.integer("milliseconds")))
            self = name == "latency" ? .latency(duration) : .slowBody(duration)
        case "status":
            let status = try body.integer("status") ?? 500
            self = .status(status, retryAfter: try body.integer("retryAfter"))
        case "cut": self = .cut(after: try body.integer("bytes"))
        case "truncated": self = .truncated(after: try body.integer("bytes"))
        default:
            guard let kind = Self.examples.first(where: { $0.name == name }) else { throw FaultError.unknownKind(name) }
            self = kind
        }
    }
}
