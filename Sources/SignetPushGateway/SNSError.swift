import SignetCore

/// An error of the push gateway, with the codes, messages and statuses of AWS SNS.
package struct SNSError: Error, Sendable, Hashable {
    /// The status of the HTTP response.
    package let status: Int
    /// The code by which clients distinguish errors, such as `InvalidParameter`.
    package let code: String
    /// The explanation for a person.
    package let message: String

    private init(_ status: Int, _ code: String, _ message: String) {
        (self.status, self.code, self.message) = (status, code, message)
    }

    /// Converts an error that the HTTP server found before the gateway received the request, such as a body that is too long.
    package init(status: Int, message: String) {
        let code =
            switch status {
            case 403: "AuthorizationError"
            case 404: "NotFound"
            case 413: "RequestEntityTooLarge"
            case 429: "Throttled"
            case 503: "ServiceUnavailable"
            case 500...: "InternalError"
            default: "InvalidParameter"
            }
        self.init(status, code, message)
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

    /// The value of a parameter is not valid.
    package static func invalidParameter(_ name: String, _ reason: String) -> SNSError {
        SNSError(400, "InvalidParameter", "Invalid parameter: \(name) Reason: \(reason)")
    }

    static let malformed = SNSError(
        400, "MalformedQueryString", "The request is not a form in UTF-8 with each parameter once.")
    /// No endpoint has the ARN.
    package static let noEndpoint = SNSError(404, "NotFound", "Endpoint does not exist")
    /// The sender has disabled the endpoint.
    package static let disabled = SNSError(400, "EndpointDisabled", "Endpoint is disabled")
    /// The state cannot be read or written.
    ///
    /// The status makes the sender retry.
    package static let internalError = SNSError(500, "InternalError", "The request could not be answered.")
    /// The inbox or the store of the gateway is full.
    package static let full = SNSError(429, "Throttled", "Rate exceeded: too much is waiting there already.")

    /// The error as an XML document of SNS.
    package var response: PushGatewayResponse {
        let type = status < 500 ? "Sender" : "Receiver"
        return PushGatewayResponse(status) { requestID in
            "<ErrorResponse xmlns=\"\(PushGatewayResponse.namespace)\"><Error><Type>\(type)</Type><Code>\(code)</Code>"
                + "<Message>\(message.escapedForXML)</Message></Error><RequestId>\(requestID)</RequestId></ErrorResponse>"
        }
    }
}
