package import SignetCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The state of a push gateway: its endpoints, and the inboxes to which they lead.
///
/// The server that contains the gateway stores it and sends the messages in the inboxes to devices. Each function is one
/// transaction.
package protocol PushGatewayState: Sendable {
    /// Creates an endpoint. If one with the same application, token and attributes exists, it is returned instead.
    /// - Parameters:
    ///   - application: The platform application.
    ///   - arn: The ARN of the application.
    ///   - token: The address of the inbox.
    ///   - attributes: The attributes in the request.
    /// - Returns: The new endpoint, or the existing one with the same token and attributes.
    /// - Throws: ``SNSError`` when an endpoint with the same token has different attributes, or when the state is full; another
    ///   error when the state cannot be read or written.
    func createEndpoint(
        _ application: SNSResource, arn: String, token: String, _ attributes: EndpointAttributes
    ) async throws -> PushGatewayEndpoint

    /// Returns the endpoint with an ARN; nil when it does not exist.
    func endpoint(_ arn: String) async throws -> PushGatewayEndpoint?

    /// Changes the attributes of an endpoint.
    /// - Throws: ``SNSError/noEndpoint``; another error when the state cannot be read or written.
    func setAttributes(_ attributes: EndpointAttributes, of arn: String) async throws

    /// Deletes an endpoint. As in AWS SNS, deleting an endpoint that does not exist succeeds.
    func deleteEndpoint(_ arn: String) async throws

    /// Puts a message into the inbox of an endpoint, once however often it is sent.
    /// - Throws: ``SNSError`` when the endpoint does not exist or is disabled, or when the inbox is full; another error when the
    ///   state cannot be read or written.
    func deliver(_ delivery: PushDelivery, to arn: String) async throws
}

/// An endpoint that is compatible with AWS SNS.
///
/// Servers publish push messages to it as they do to SNS, and it puts them into the inboxes of desktop authenticators
/// (docs/guides/push.md).
package struct PushGateway: Sendable {
    private let keys: PushGatewayKeys
    private let state: any PushGatewayState

    /// Creates a gateway.
    package init(_ configuration: PushGatewayConfiguration, state: any PushGatewayState) {
        (keys, self.state) = (PushGatewayKeys(configuration), state)
    }

    /// Checks the signature of a `POST` request, and then performs its action.
    /// - Parameters:
    ///   - path: The path of the request, as it was sent.
    ///   - query: The query of the request, without the question mark.
    ///   - body: The body of the request.
    ///   - now: The time of the machine's clock. Senders don't know the adjustable clock of the server.
    ///   - header: Returns the value of a header, given its name in lower case.
    /// - Returns: The response with status 200.
    /// - Throws: ``SNSError`` when the request is refused; the error of the state when it cannot be read or written.
    package func answer(
        path: String, query: String, body: [UInt8], now: Date, header: (String) -> String?
    ) async throws -> PushGatewayResponse {
        try keys.check(method: "POST", path: path, query: query, body: body, now: now, header: header)
        let action = try PushGatewayAction(body)
        let result = try await perform(action)
        return PushGatewayResponse(200) { PushGatewayResponse.document(action.name.rawValue, result, requestID: $0) }
    }

    private func perform(_ action: PushGatewayAction) async throws -> String? {
        switch action.name {
        case .createEndpoint:
            let (arn, application) = try action.resource("PlatformApplicationArn", .application)
            let token = try PushGatewayAction.token(try action.required("Token"))
            var attributes = try action.attributes()
            attributes.userData = action["CustomUserData"] ?? attributes.userData
            let endpoint = try await state.createEndpoint(application, arn: arn, token: token, attributes)
            return PushGatewayResponse.element("EndpointArn", endpoint.arn)
        case .setAttributes:
            let (arn, _) = try action.resource("EndpointArn", .endpoint)
            try await state.setAttributes(try action.attributes(), of: arn)
            return nil
        case .getAttributes:
            let (arn, _) = try action.resource("EndpointArn", .endpoint)
            guard let endpoint = try await state.endpoint(arn) else { throw SNSError.noEndpoint }
            return PushGatewayResponse.attributes(endpoint.attributes)
        case .deleteEndpoint:
            try await state.deleteEndpoint(try action.resource("EndpointArn", .endpoint).arn)
            return nil
        case .publish: return try await publish(action)
        }
    }

    private func publish(_ action: PushGatewayAction) async throws -> String {
        let (arn, resource) = try action.resource("TargetArn", .endpoint)
        let message = try action.required("Message")
        guard action["MessageStructure"] == "json" else {
            throw SNSError.invalidParameter(
                "MessageStructure", "it must be json: AM's message stands in the text for the platform")
        }
        guard let delivery = SNSEnvelope.unwrap(message, subject: action["Subject"], for: resource.platform) else {
            throw SNSError.invalidParameter(
                "Message", "there is no message of AM's in it for \(resource.platform.rawValue), with data and messageId")
        }
        guard delivery.messageId.utf8.count <= 1024, delivery.message.utf8.count <= 65_536 else {
            throw SNSError.invalidParameter("Message", "it is too long")
        }
        try await state.deliver(delivery, to: arn)
        return PushGatewayResponse.element("MessageId", RandomID.uuid().lowercased())
    }
}
