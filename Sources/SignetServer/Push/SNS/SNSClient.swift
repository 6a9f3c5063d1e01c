import Foundation
import SignetCore
import SignetNetwork
import SignetPushGateway

/// A client of AWS SNS or of a compatible server.
struct SNSClient: Sendable {
    let configuration: SNSConfiguration
    let transport: any HTTPTransport
    /// The machine's clock, not the server's adjustable clock.
    ///
    /// SNS compares the time of a signature with its own clock.
    let clock: any WallClock
    /// A function that is called for each request with the action, the status (0 without an answer) and the duration.
    var observer: @Sendable (_ action: String, _ status: Int, _ duration: Duration) -> Void = { _, _, _ in }

    /// Creates the endpoint of a device that registers, as AM does.
    ///
    /// If a disabled endpoint exists for the token, a second request that creates a disabled one returns it, and the client
    /// enables it.
    /// - Returns: The endpoint's ARN.
    func endpoint(for token: String, of application: String) async throws(SNSFailure) -> String {
        do {
            return try await create(.createEndpoint(application, token: token, enabled: true))
        } catch  where error.code == "InvalidParameter" {
            let endpoint: String
            do {
                endpoint = try await create(.createEndpoint(application, token: token, enabled: false))
            } catch  where error.code == "InvalidParameter" {
                // The endpoint has attributes that another client set, so only the error message contains its ARN.
                guard let named = Self.endpointNamed(in: error) else { throw error }
                endpoint = named
            }
            try await enable(endpoint, token: token)
            return endpoint
        }
    }

    /// Publishes a message to an endpoint.
    ///
    /// SNS disables an endpoint when its phone is unreachable. If the endpoint is disabled, the client enables it and publishes
    /// once more.
    /// - Returns: The message id that SNS assigned.
    func publish(_ message: String, subject: String?, to endpoint: String, token: String) async throws(SNSFailure) -> String {
        let action = SNSAction.publish(message, subject: subject, to: endpoint)
        let body: [UInt8]
        do {
            body = try await ask(action)
        } catch  where error.code == "EndpointDisabled" {
            try await enable(endpoint, token: token)
            body = try await ask(action)
        }
        guard let id = SNSAnswer.element("MessageId", in: body) else { throw .unreadable(status: 200) }
        return id
    }

    private func create(_ action: SNSAction) async throws(SNSFailure) -> String {
        let body = try await ask(action)
        guard let endpoint = SNSAnswer.element("EndpointArn", in: body), SNSResource(endpoint)?.kind == .endpoint else {
            throw .unreadable(status: 200)
        }
        return endpoint
    }

    private func enable(_ endpoint: String, token: String) async throws(SNSFailure) {
        _ = try await ask(.enable(endpoint, token: token))
    }

    /// Returns the ARN of the existing endpoint that an error message names; nil for another error.
    ///
    /// The message has the form `... Endpoint arn:aws:sns:... already exists with the same Token, but different attributes.`
    private static func endpointNamed(in failure: SNSFailure) -> String? {
        guard case .refused(_, let message, _) = failure, message.contains("already exists with the same Token") else {
            return nil
        }
        return message.split(separator: " ").map(String.init).first { SNSResource($0)?.kind == .endpoint }
    }

    // MARK: Requests

    private func ask(_ action: SNSAction) async throws(SNSFailure) -> [UInt8] {
        let request = try self.request(action)
        let began = ContinuousClock.now
        let response: HTTPResponse
        do {
            response = try await transport.send(request)
        } catch {
            observer(action.name, 0, .now - began)
            throw .unreachable(error.description, isRetryable: error.isRetryable)
        }
        observer(action.name, response.status, .now - began)
        guard response.status == 200 else { throw SNSAnswer.failure(response.status, response.body) }
        return response.body
    }

    private func request(_ action: SNSAction) throws(SNSFailure) -> HTTPRequest {
        guard let credentials = configuration.credentials else {
            throw .notConfigured("there is no access key for SNS: add one to the configuration")
        }
        guard let region = configuration.usedRegion else {
            throw .notConfigured("there is no region for SNS: add one to the configuration")
        }
        let url = configuration.endpoint ?? "https://sns.\(region).amazonaws.com/"
        guard let endpoint = try? Endpoint(unchecked: url) else {
            throw .notConfigured("the address of SNS is invalid")
        }
        let scope = AWSSignature.Scope(time: AWSTime.text(clock.now), region: region, service: "sns")
        let body = Array(action.body.utf8)
        var headers: [(name: String, value: String)] = [
            ("content-type", "application/x-www-form-urlencoded; charset=utf-8"), ("host", endpoint.authority),
            ("x-amz-date", scope.time),
        ]
        if let token = credentials.sessionToken { headers.append(("x-amz-security-token", token.text)) }
        let signed = AWSSignature.Request(method: "POST", path: endpoint.path, query: [], headers: headers, body: body)
        var request = HTTPRequest(
            "POST", "\(endpoint.scheme)://\(endpoint.authority)\(endpoint.path)", body: body,
            timeout: .seconds(max(1, configuration.timeout)))
        // The transport adds the `Host` header itself, with the same value.
        for header in headers where header.name != "host" { request.headers.append(header.name, header.value) }
        request.headers.append("Authorization", AWSSignature.authorization(of: signed, scope, credentials))
        return request
    }
}

extension Endpoint {
    /// The host and port, as in the `Host` header.
    ///
    /// The default port of the scheme is omitted.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (scheme == "https" ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// The path of a request to this endpoint.
    var path: String {
        let rest = url.dropFirst(scheme.count + 3).drop { $0 != "/" && $0 != "?" && $0 != "#" }
        let path = rest.prefix { $0 != "?" && $0 != "#" }
        return path.isEmpty ? "/" : String(path)
    }
}
