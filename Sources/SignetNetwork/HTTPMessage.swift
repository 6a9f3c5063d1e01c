import SignetCore

/// An HTTP request.
public struct HTTPRequest: Sendable, Hashable {
    /// The method, in upper case.
    public var method: String
    /// The absolute URL.
    public var url: String
    /// The header fields, in order.
    public var headers: HTTPHeaders
    /// The content; may be empty.
    public var body: [UInt8]
    /// The timeout.
    ///
    /// For ``HTTPTransport/send(_:)`` it covers the whole response; if the server stops sending in the middle of a body, the
    /// transport may take up to 30 seconds longer to give up. For ``HTTPTransport/stream(_:receive:)`` it covers the time until
    /// the response head.
    public var timeout: Duration
    /// The pinned keys, of which the server must have one.
    ///
    /// If empty, any server with a valid certificate is trusted. Send a request with pins through ``HTTPTransport/deliver(_:)``,
    /// which throws if the transport cannot check them.
    public var pins: Set<PublicKeyPin>

    /// The default timeout: 30 seconds, as in the ForgeRock SDK for Android.
    public static let defaultTimeout = Duration.seconds(30)

    /// Creates a request.
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
    /// The method, the address without its query, and the length of the content.
    ///
    /// Headers and content are left out because they carry secrets.
    public var description: String { "\(method) \(url.prefix { $0 != "?" }), \(body.count) bytes" }
    /// A mirror without children, so that `dump` shows no secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// An HTTP response.
public struct HTTPResponse: Sendable, Hashable {
    /// The status code.
    public var status: Int
    /// The header fields; each `Set-Cookie` is a separate field.
    public var headers: HTTPHeaders
    /// The content; may be empty.
    public var body: [UInt8]

    /// Creates a response.
    public init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// The header fields of a message: a list, because a name may occur several times.
///
/// Names are compared case-insensitively.
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The fields, in order.
    public private(set) var fields: [Field]

    /// One header field.
    public struct Field: Sendable, Hashable {
        /// The name, as written.
        public let name: String
        /// The field value.
        public let value: String
    }

    /// Creates the fields in the order of the literal.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// Adds a field at the end.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The value of the first field with this name.
    public subscript(name: String) -> String? { fields.first { Self.areAlike($0.name, name) }?.value }

    /// Removes all fields with this name and adds a new one at the end.
    public mutating func set(_ name: String, _ value: String) {
        fields.removeAll { Self.areAlike($0.name, name) }
        append(name, value)
    }

    /// Splits `Set-Cookie` values that were joined with commas.
    ///
    /// A comma separates two cookies if a name and an equals sign follow it; the comma in a date doesn't.
    package static func cookies(joined text: String) -> [String] {
        var cookies: [String] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let begins = part.first { $0 == "=" || $0 == ";" } == "="
            if begins || cookies.isEmpty { cookies.append(String(part)) } else { cookies[cookies.count - 1] += ",\(part)" }
        }
        return cookies.map { $0.trimmingWhitespace() }
    }

    /// Returns the values of all fields with this name, in order.
    public func all(_ name: String) -> [String] {
        fields.filter { Self.areAlike($0.name, name) }.map(\.value)
    }

    /// Compares two field names, which are ASCII (RFC 9110 section 5.1), case-insensitively.
    private static func areAlike(_ left: String, _ right: String) -> Bool {
        let (left, right) = (left.utf8, right.utf8)
        return left.count == right.count && zip(left, right).allSatisfy { $0 == $1 || lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
