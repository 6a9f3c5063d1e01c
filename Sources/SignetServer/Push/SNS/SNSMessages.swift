import SignetCore

/// What is asked of SNS: an action of its Query API with its parameters.
struct SNSAction: Sendable, Hashable {
    static let version = "2010-03-31"

    let name: String
    let parameters: [String: String]

    private init(_ name: String, _ parameters: [String: String], attributes: [String: String] = [:]) {
        var all = parameters
        for (index, attribute) in attributes.sorted(by: { $0.key < $1.key }).enumerated() {
            all["Attributes.entry.\(index + 1).key"] = attribute.key
            all["Attributes.entry.\(index + 1).value"] = attribute.value
        }
        self.name = name
        self.parameters = all
    }

    /// The form that is posted.
    var body: String {
        let all = parameters.merging(["Action": name, "Version": Self.version]) { own, _ in own }
        let form = FormCoding.encode(all.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
        // As Amazon's own library writes a space. Both are right, but a server that writes the form anew before it checks the signature,
        // as Moto does, knows this one only.
        return form.replacing("%20", with: "+")
    }

    static func createEndpoint(_ application: String, token: String, enabled: Bool) -> SNSAction {
        SNSAction(
            "CreatePlatformEndpoint", ["PlatformApplicationArn": application, "Token": token],
            attributes: ["Enabled": String(enabled), "Token": token])
    }

    static func enable(_ endpoint: String, token: String) -> SNSAction {
        SNSAction("SetEndpointAttributes", ["EndpointArn": endpoint], attributes: ["Enabled": "true", "Token": token])
    }

    static func publish(_ message: String, subject: String?, to endpoint: String) -> SNSAction {
        var parameters = ["TargetArn": endpoint, "Message": message, "MessageStructure": "json"]
        parameters["Subject"] = subject
        return SNSAction("Publish", parameters)
    }
}

/// Why SNS did not do what was asked.
enum SNSFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// It says so, in its own words.
    case refused(code: String, message: String, status: Int)
    /// What it said is none of its answers.
    case unreadable(status: Int)
    /// It did not answer.
    case unreachable(String, isRetryable: Bool)
    /// Nobody can be asked: what is missing in the configuration.
    case notConfigured(String)

    /// What is wrong, in words that carry no secret. Of what the other side says one line is repeated.
    var description: String {
        switch self {
        case .refused(let code, let message, _): "\(code): \(message)".shortenedLine
        case .unreadable(let status): "the answer, with status \(status), is none of SNS"
        case .unreachable(let reason, _): reason
        case .notConfigured(let what): what
        }
    }

    var code: String? { if case .refused(let code, _, _) = self { code } else { nil } }

    /// The status of the answer; 0 when there was none.
    var status: Int {
        switch self {
        case .refused(_, _, let status), .unreadable(let status): status
        case .unreachable, .notConfigured: 0
        }
    }

    /// Whether the same request may succeed a moment later.
    var isRetryable: Bool {
        switch self {
        case .refused(let code, _, let status): status >= 500 || status == 429 || Self.isThrottling(code)
        case .unreadable(let status): status >= 500 || status == 429
        case .unreachable(_, let isRetryable): isRetryable
        case .notConfigured: false
        }
    }

    /// Whether it is the device's registration that is no good, and not the server's way to SNS.
    var isAboutDevice: Bool { code == "InvalidParameter" || code == "ValidationError" }

    private static func isThrottling(_ code: String) -> Bool {
        ["Throttled", "Throttling", "ThrottlingException", "RequestLimitExceeded", "KMSThrottling"].contains(code)
    }
}

/// The few elements that are read of SNS's XML. Their content is text: what else an XML document can be does not occur.
enum SNSAnswer {
    /// The text of the first element of this name; nil when there is none.
    static func element(_ name: String, in body: [UInt8]) -> String? {
        guard let text = String(validating: body, as: UTF8.self), let start = text.firstRange(of: "<\(name)>"),
            let end = text[start.upperBound...].firstRange(of: "</\(name)>")
        else { return nil }
        return unescaped(text[start.upperBound..<end.lowerBound])
    }

    static func failure(_ status: Int, _ body: [UInt8]) -> SNSFailure {
        guard let code = element("Code", in: body) else { return .unreadable(status: status) }
        return .refused(code: code, message: element("Message", in: body) ?? "", status: status)
    }

    private static let entities = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]

    private static func unescaped(_ text: Substring) -> String {
        var pieces = text.split(separator: "&", omittingEmptySubsequences: false)[...]
        var result = String(pieces.popFirst() ?? "")
        for piece in pieces {
            let name = piece.prefix { $0 != ";" }
            let isClosed = name.endIndex < piece.endIndex
            let code =
                name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
            let character = entities[String(name)] ?? code.flatMap(Unicode.Scalar.init).map { String($0) }
            guard isClosed, let character else {
                result += "&\(piece)"
                continue
            }
            result += character + piece[piece.index(after: name.endIndex)...]
        }
        return result
    }
}

extension String {
    /// One line, and not too long for a log.
    var shortenedLine: String {
        let line = String(unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
        return line.count <= 300 ? line : line.prefix(297) + "..."
    }
}
