import Foundation
import SignetCore
import Testing

@testable import SignetPushGateway

/// A form that is signed as AWS signs it, for a gateway at `/sns`.
struct SignedForm: Sendable {
    static let key = AWSCredentials(accessKey: "AKIDGATEWAY", secret: Secret("the gateway's secret".utf8))
    static let application = "arn:aws:sns:us-east-1:123456789012:app/GCM/am"
    static let now = Date(timeIntervalSince1970: 1_440_938_160)

    var credentials = key
    /// The host in the signature.
    ///
    /// The request is always sent to `localhost`.
    var host = "localhost"
    /// The number of seconds that the sender's clock is ahead.
    var offset = 0.0
    var service = "sns"
    /// Changes the headers after signing.
    var tamper: @Sendable (inout [String: String]) -> Void = { _ in }
    /// The body that is sent in place of the signed one.
    var otherBody: String?

    /// Sends the fields to a gateway.
    func send(_ fields: [String: String], to state: any PushGatewayState = GatewayState()) async throws -> PushGatewayResponse {
        let body = FormCoding.encode(fields.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
        let scope = AWSSignature.Scope(
            time: AWSTime.text(Self.now.addingTimeInterval(offset)), region: "us-east-1", service: service)
        var headers: [(name: String, value: String)] = [
            ("content-type", "application/x-www-form-urlencoded"), ("host", host), ("x-amz-date", scope.time),
        ]
        if let token = credentials.sessionToken {
            headers.append(("x-amz-security-token", String(decoding: token.bytes, as: UTF8.self)))
        }
        let request = AWSSignature.Request(method: "POST", path: "/sns", query: [], headers: headers, body: Array(body.utf8))
        var sent = Dictionary(uniqueKeysWithValues: headers.map { ($0.name, $0.value) })
        sent["host"] = "localhost"
        sent["authorization"] = AWSSignature.authorization(of: request, scope, credentials)
        tamper(&sent)
        let gateway = PushGateway(PushGatewayConfiguration(keys: [Self.key]), state: state)
        return try await gateway.answer(
            path: "/sns", query: "", body: Array((otherBody ?? body).utf8), now: Self.now, header: { sent[$0] })
    }

    /// Sends the fields, and returns the error with which the gateway refuses them.
    func refusal(_ fields: [String: String], to state: any PushGatewayState = GatewayState()) async throws -> SNSError? {
        do {
            _ = try await send(fields, to: state)
            return nil
        } catch let error as SNSError {
            return error
        }
    }
}

/// A state without endpoints that counts the calls of the gateway.
final class GatewayState: PushGatewayState {
    private let count = Mutex(0)
    var calls: Int { count.withLock { $0 } }

    private func called() { count.withLock { $0 += 1 } }

    func createEndpoint(
        _ application: SNSResource, arn: String, token: String, _ attributes: EndpointAttributes
    ) async throws -> PushGatewayEndpoint {
        called()
        return PushGatewayEndpoint(of: application, arn: arn, token: token, attributes)
    }

    func endpoint(_ arn: String) async throws -> PushGatewayEndpoint? {
        called()
        return nil
    }

    func setAttributes(_ attributes: EndpointAttributes, of arn: String) async throws {
        called()
        throw SNSError.noEndpoint
    }

    func deleteEndpoint(_ arn: String) async throws { called() }

    func deliver(_ delivery: PushDelivery, to arn: String) async throws {
        called()
        throw SNSError.noEndpoint
    }
}

extension SNSError {
    fileprivate var summary: String { "\(status) \(code)" }
}

@Suite("Query API of the push gateway")
struct QueryAPITests {
    private static let creation = [
        "Action": "CreatePlatformEndpoint", "PlatformApplicationArn": SignedForm.application, "Token": address,
    ]
    private static var address: String { (try? PushInbox(of: Secret("a secret of thirty-two bytes....".utf8)))?.address ?? "-" }

    @Test("A signed request is performed, and its response contains the id of the request")
    func performsSignedRequest() async throws {
        let state = GatewayState()
        let response = try await SignedForm().send(Self.creation, to: state)
        let document = String(decoding: response.body, as: UTF8.self)
        #expect(response.status == 200 && state.calls == 1)
        #expect(document.contains("<EndpointArn>arn:aws:sns:us-east-1:123456789012:endpoint/GCM/am/"))
        #expect(document.contains("<RequestId>\(response.requestID)</RequestId>"))
    }

    private static let wrongSignatures: [(expected: String, change: @Sendable (inout SignedForm) -> Void)] = [
        ("403 SignatureDoesNotMatch", { $0.credentials.secret = Secret("wrong".utf8) }),
        ("403 InvalidClientTokenId", { $0.credentials.accessKey = "AKIDOTHER" }),
        ("403 SignatureDoesNotMatch", { $0.credentials.sessionToken = Secret("t".utf8) }),
        ("403 SignatureDoesNotMatch", { $0.service = "sqs" }), ("403 SignatureDoesNotMatch", { $0.host = "elsewhere" }),
        ("403 MissingAuthenticationToken", { $0.tamper = { $0["authorization"] = nil } }),
        ("400 IncompleteSignature", { $0.tamper = { $0["x-amz-date"] = nil } }),
        ("400 IncompleteSignature", { $0.tamper = { $0["x-amz-date"] = "yesterday" } }),
        ("403 SignatureDoesNotMatch", { $0.otherBody = "Action=Publish" }),
    ]

    @Test("A request without a valid signature is refused with the error code of AWS", arguments: wrongSignatures.indices)
    func rejectsInvalidSignature(index: Int) async throws {
        let (expected, change) = Self.wrongSignatures[index]
        let state = GatewayState()
        var form = SignedForm()
        change(&form)
        let refusal = try await form.refusal(Self.creation, to: state)
        #expect(refusal?.summary == expected)
        #expect(state.calls == 0)
    }

    @Test(
        "A request with a malformed Authorization header is refused with the error code of AWS",
        arguments: [
            "Basic eDp5", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=a", "AWS4-HMAC-SHA256 x, y, z",
            "AWS4-HMAC-SHA256 Credential=a/b/c/sns/aws4_request, SignedHeaders=host",
            "AWS4-HMAC-SHA256 Credential=a/b/c/sns, SignedHeaders=host;x-amz-date, Signature=0",
            "AWS4-HMAC-SHA256 Credential=a/b/c/sns/aws4_request, SignedHeaders=, Signature=0",
            "AWS4-HMAC-SHA256 Credential=a/b/c/sns/aws4_request, Credential=a/b/c/sns/aws4_request, SignedHeaders=host, "
                + "Signature=0",
        ])
    func rejectsMalformedAuthorization(header: String) async throws {
        let state = GatewayState()
        let refusal = try await SignedForm(tamper: { $0["authorization"] = header }).refusal(Self.creation, to: state)
        #expect(refusal?.summary == "400 IncompleteSignature")
        #expect(state.calls == 0)
    }

    @Test("The sender's clock may differ by 15 minutes", arguments: [899.0, -899])
    func acceptsClockSkew(offset: Double) async throws {
        #expect(try await SignedForm(offset: offset).send(Self.creation).status == 200)
    }

    @Test(
        "A signature that is more than 15 minutes away from the gateway's time is refused",
        arguments: [(901.0, "not yet current"), (-901, "Signature expired")])
    func rejectsDistantClock(offset: Double, words: String) async throws {
        let refusal = try #require(try await SignedForm(offset: offset).refusal(Self.creation))
        #expect(refusal.summary == "403 SignatureDoesNotMatch")
        #expect(refusal.message.contains(words))
    }

    private static let malformedRequests: [(String, [String: String], String)] = [
        ("no action", ["Version": "2010-03-31"], "400 ValidationError"),
        ("another action", ["Action": "Subscribe"], "400 InvalidAction"),
        ("an action in another case", ["Action": "publish"], "400 InvalidAction"),
        ("no application", ["Action": "CreatePlatformEndpoint", "Token": "x"], "400 ValidationError"),
        (
            "no token", ["Action": "CreatePlatformEndpoint", "PlatformApplicationArn": SignedForm.application],
            "400 ValidationError"
        ),
        (
            "a phone's token",
            ["Action": "CreatePlatformEndpoint", "PlatformApplicationArn": SignedForm.application, "Token": "abc"],
            "400 InvalidParameter"
        ),
        (
            "an invalid ARN", ["Action": "CreatePlatformEndpoint", "PlatformApplicationArn": "arn:aws:sns", "Token": "abc"],
            "400 InvalidParameter"
        ),
        ("a topic", ["Action": "Publish", "TopicArn": "arn:aws:sns:us-east-1:1:t", "Message": "x"], "400 ValidationError"),
        (
            "an application as a target", ["Action": "Publish", "TargetArn": SignedForm.application, "Message": "x"],
            "400 InvalidParameter"
        ),
        (
            "an endpoint that there is not",
            [
                "Action": "Publish", "TargetArn": "arn:aws:sns:us-east-1:1:endpoint/GCM/am/x", "MessageStructure": "json",
                "Message": SNSEnvelope.wrap(PushDelivery(messageId: "1", message: "x"), text: "t"),
            ], "404 NotFound"
        ),
        (
            "no message", ["Action": "Publish", "TargetArn": "arn:aws:sns:us-east-1:1:endpoint/GCM/am/x"],
            "400 ValidationError"
        ),
        (
            "a message that is plain text",
            ["Action": "Publish", "TargetArn": "arn:aws:sns:us-east-1:1:endpoint/GCM/am/x", "Message": "x"],
            "400 InvalidParameter"
        ),
        (
            "a message with nothing of AM's in it",
            [
                "Action": "Publish", "TargetArn": "arn:aws:sns:us-east-1:1:endpoint/GCM/am/x", "MessageStructure": "json",
                "Message": "{\"default\":\"x\",\"GCM\":\"{}\"}",
            ], "400 InvalidParameter"
        ),
        (
            "an attribute that there is not",
            [
                "Action": "SetEndpointAttributes", "EndpointArn": "arn:aws:sns:us-east-1:1:endpoint/GCM/am/x",
                "Attributes.entry.1.key": "Color", "Attributes.entry.1.value": "red",
            ], "400 InvalidParameter"
        ),
        (
            "an invalid Boolean value",
            [
                "Action": "SetEndpointAttributes", "EndpointArn": "arn:aws:sns:us-east-1:1:endpoint/GCM/am/x",
                "Attributes.entry.1.key": "Enabled", "Attributes.entry.1.value": "1",
            ], "400 InvalidParameter"
        ),
    ]

    @Test("A malformed SNS request is refused with its error code", arguments: malformedRequests.indices)
    func rejectsMalformedRequest(index: Int) async throws {
        let (what, fields, expected) = Self.malformedRequests[index]
        let refusal = try #require(try await SignedForm().refusal(fields), "\(what)")
        #expect(refusal.summary == expected, "\(what): \(refusal.message)")
        let document = String(decoding: refusal.response.body, as: UTF8.self)
        #expect(document.contains("<Type>Sender</Type>") && document.contains("<Code>\(refusal.code)</Code>"))
    }
}
