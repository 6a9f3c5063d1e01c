import SignetCore

/// A request to SNS: an action of its Query API with the parameters.
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

    /// The form body of the request.
    var body: String {
        let all = parameters.merging(["Action": name, "Version": Self.version]) { own, _ in own }
        let form = FormCoding.encode(all.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
        // A space is encoded as Amazon's SDK encodes it. Both forms are valid, but a server such as Moto, which encodes the form
        // again before it checks the signature, accepts only this one.
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

/// An error of a request to SNS.
enum SNSFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// SNS returned this error.
    case refused(code: String, message: String, status: Int)
    /// The response is not a valid SNS response.
    case unreadable(status: Int)
    /// SNS did not respond.
    case unreachable(String, isRetryable: Bool)
    /// The request could not be made because the configuration is incomplete. The value says what is missing.
    case notConfigured(String)

    /// The error as text without secrets.
    ///
    /// An error message from SNS is shortened to one line.
    var description: String {
        switch self {
        case .refused(let code, let message, _): "\(code): \(message)".shortenedLine
        case .unreadable(let status): "the response, with status \(status), is not an SNS response"
        case .unreachable(let reason, _): reason
        case .notConfigured(let what): what
        }
    }

    var code: String? { if case .refused(let code, _, _) = self { code } else { nil } }

    /// The status of the response; 0 without a response.
    var status: Int {
        switch self {
        case .refused(_, _, let status), .unreadable(let status): status
        case .unreachable, .notConfigured: 0
        }
    }

    /// True when a retry of the same request may succeed.
    var isRetryable: Bool {
        switch self {
        case .refused(let code, _, let status): status >= 500 || status == 429 || Self.isThrottling(code)
        case .unreadable(let status): status >= 500 || status == 429
        case .unreachable(_, let isRetryable): isRetryable
        case .notConfigured: false
        }
    }

    /// True when the error concerns the device's registration rather than the connection to SNS.
    var isAboutDevice: Bool { code == "InvalidParameter" || code == "ValidationError" }

    private static func isThrottling(_ code: String) -> Bool {
        ["Throttled", "Throttling", "ThrottlingException", "RequestLimitExceeded", "KMSThrottling"].contains(code)
    }
}

/// Reads the few elements that are needed from SNS's XML responses.
///
/// It supports only elements that contain text, because SNS uses nothing else there.
enum SNSAnswer {
    /// Returns the text of the first element with this name; nil when the document does not contain it.
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
    /// The text as one line of at most 300 characters, for a log.
    var shortenedLine: String {
        let line = String(unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
        return line.count <= 300 ? line : line.prefix(297) + "..."
    }
}
