import SignetCore

/// A request, as a value.
public struct HTTPRequest: Sendable, Hashable {
    /// The method, in upper case.
    public var method: String
    /// The absolute address.
    public var url: String
    /// The header fields in order.
    public var headers: HTTPHeaders
    /// The content, possibly empty.
    public var body: [UInt8]
    /// How long to wait: for ``HTTPTransport/send(_:)`` until the whole response is there (a body that falls silent may take
    /// up to 30 seconds more to be given up), for ``HTTPTransport/stream(_:receive:)`` until its head is there.
    public var timeout: Duration
    /// The keys of which the server must have one; none to trust whoever its certificate is valid for. A request with pins
    /// goes through ``HTTPTransport/deliver(_:)``, which refuses to give it to a transport that cannot keep the promise.
    public var pins: Set<PublicKeyPin>

    /// The wait that is used when none is given: 30 seconds, as the Android SDK has it.
    public static let defaultTimeout = Duration.seconds(30)

    /// A request as given.
    public init(
        _ method: String, _ url: String, headers: HTTPHeaders = [:], body: [UInt8] = [], timeout: Duration = defaultTimeout,
        pins: Set<PublicKeyPin> = []
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.pins = pins
    }
}

extension HTTPRequest: CustomStringConvertible, CustomReflectable {
    /// Method, address without its query, and the length of the content: headers and content carry secrets.
    public var description: String { "\(method) \(url.prefix { $0 != "?" }), \(body.count) bytes" }
    /// Nothing: `dump` shows no child.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A response, as a value.
public struct HTTPResponse: Sendable, Hashable {
    /// The status code.
    public var status: Int
    /// The header fields; each `Set-Cookie` stands on its own.
    public var headers: HTTPHeaders
    /// The content, possibly empty.
    public var body: [UInt8]

    /// A response as given.
    public init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// Header fields: a list, since a name may come several times. Names are compared without regard to case.
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The fields in order.
    public private(set) var fields: [Field]

    /// One field.
    public struct Field: Sendable, Hashable {
        /// The name as written.
        public let name: String
        /// The value.
        public let value: String
    }

    /// The fields as listed.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// Adds a field at the end.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The value of the first field called `name`.
    public subscript(name: String) -> String? { fields.first { Self.areAlike($0.name, name) }?.value }

    /// Puts a field in place of those that are called the same.
    public mutating func set(_ name: String, _ value: String) {
        fields.removeAll { Self.areAlike($0.name, name) }
        append(name, value)
    }

    /// The values of several `Set-Cookie` fields that were joined by commas, one by one. A comma ends one where a name and an equals
    /// sign follow; the one in a date does not.
    package static func cookies(joined text: String) -> [String] {
        var cookies: [String] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let begins = part.first { $0 == "=" || $0 == ";" } == "="
            if begins || cookies.isEmpty { cookies.append(String(part)) } else { cookies[cookies.count - 1] += ",\(part)" }
        }
        return cookies.map { $0.trimmingWhitespace() }
    }

    /// The values of every field called `name`, in order.
    public func all(_ name: String) -> [String] {
        fields.filter { Self.areAlike($0.name, name) }.map(\.value)
    }

    /// Names of fields are ASCII (RFC 9110 section 5.1).
    private static func areAlike(_ left: String, _ right: String) -> Bool {
        let (left, right) = (left.utf8, right.utf8)
        return left.count == right.count && zip(left, right).allSatisfy { $0 == $1 || lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
