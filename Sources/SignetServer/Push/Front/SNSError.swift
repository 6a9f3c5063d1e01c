import HTTPTypes
import Hummingbird
import NIOCore
import SignetCore

/// An error of the push gateway, with the codes, messages and statuses of AWS SNS.
struct SNSError: Error, Sendable, Hashable {
    let status: Int
    let code: String
    let message: String
    private var headers: HTTPFields = [:]

    private init(_ status: Int, _ code: String, _ message: String) {
        (self.status, self.code, self.message) = (status, code, message)
    }

    /// Converts an error that any resource of the server can throw.
    init(_ refusal: APIError) {
        let code =
            switch refusal.status.code {
            case 403: "AuthorizationError"
            case 404: "NotFound"
            case 413: "RequestEntityTooLarge"
            case 429: "Throttled"
            case 503: "ServiceUnavailable"
            case 500...: "InternalError"
            default: "InvalidParameter"
            }
        self.init(refusal.status.code, code, refusal.message)
        headers = refusal.headers
    }

    static let missingToken = SNSError(403, "MissingAuthenticationToken", "Request is missing Authentication Token")
    static let unknownKey = SNSError(
        403, "InvalidClientTokenId", "The security token included in the request is invalid.")
    static func incompleteSignature(_ message: String) -> SNSError { SNSError(400, "IncompleteSignature", message) }
    static func wrongSignature(_ message: String) -> SNSError { SNSError(403, "SignatureDoesNotMatch", message) }

    static func invalidAction(_ action: String) -> SNSError {
        SNSError(
            400, "InvalidAction",
            "The action \(action.shortened) is not valid for this endpoint: it has "
                + PushGatewayAction.Name.allCases.map(\.rawValue).joined(separator: ", "))
    }

    static func missing(_ name: String) -> SNSError {
        SNSError(
            400, "ValidationError",
            "1 validation error detected: Value null at '\(name)' failed to satisfy constraint: Member must not be null")
    }

    static func invalidParameter(_ name: String, _ reason: String) -> SNSError {
        SNSError(400, "InvalidParameter", "Invalid parameter: \(name) Reason: \(reason)")
    }

    static let malformed = SNSError(
        400, "MalformedQueryString", "The request is no form in UTF-8 with each parameter once.")
    static let noEndpoint = SNSError(404, "NotFound", "Endpoint does not exist")
    static let disabled = SNSError(400, "EndpointDisabled", "Endpoint is disabled")
    static let internalError = SNSError(500, "InternalError", "The request could not be answered.")
    static let full = SNSError(429, "Throttled", "Rate exceeded: too much is waiting there already.")

    var response: Response { PushGatewayResponse.response(status, headers: headers) { document(requestID: $0) } }

    private func document(requestID: String) -> String {
        let type = status < 500 ? "Sender" : "Receiver"
        return "<ErrorResponse xmlns=\"\(PushGatewayResponse.namespace)\"><Error><Type>\(type)</Type><Code>\(code)</Code>"
            + "<Message>\(message.escapedForXML)</Message></Error><RequestId>\(requestID)</RequestId></ErrorResponse>"
    }
}

/// The responses of the push gateway.
enum PushGatewayResponse {
    static let namespace = "http://sns.amazonaws.com/doc/2010-03-31/"

    /// Creates a response with an XML document that contains the id of the request.
    static func response(
        _ status: Int, headers: HTTPFields = [:], _ document: (_ requestID: String) -> String
    ) -> Response {
        let requestID = RandomID.uuid().lowercased()
        let bytes = Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\(document(requestID))\n".utf8)
        var headers = headers
        headers[.contentType] = "text/xml"
        headers[.contentLength] = String(bytes.count)
        headers.set("x-amzn-RequestId", requestID)
        return Response(
            status: HTTPResponse.Status(code: status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// Returns the XML document that answers an action.
    /// - Parameter result: The contents of the result element; nil for an action without a result.
    static func document(_ action: String, _ result: String?, requestID: String) -> String {
        let inner = result.map { "<\(action)Result>\($0)</\(action)Result>" } ?? ""
        return "<\(action)Response xmlns=\"\(namespace)\">\(inner)<ResponseMetadata><RequestId>\(requestID)</RequestId>"
            + "</ResponseMetadata></\(action)Response>"
    }

    static func element(_ name: String, _ text: String) -> String { "<\(name)>\(text.escapedForXML)</\(name)>" }

    static func attributes(_ attributes: [String: String]) -> String {
        let entries = attributes.sorted { $0.key < $1.key }.map { entry in
            "<entry>\(element("key", entry.key))\(element("value", entry.value))</entry>"
        }
        return "<Attributes>\(entries.joined())</Attributes>"
    }
}

extension String {
    /// The text escaped for an XML document. Characters that XML does not allow are removed.
    fileprivate var escapedForXML: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "\t", "\n", "\r": text += "&#\(scalar.value);"
            default:
                if scalar.value >= 0x20, scalar.value != 0xFFFE, scalar.value != 0xFFFF { text.unicodeScalars.append(scalar) }
            }
        }
        return text
    }
}
