#if os(Linux)
import SignetCore
import SignetPushGateway
import SignetTesting
import Testing
import TestSupport

@testable import SignetServer

/// A stand-in for SNS on a real socket that answers as a test specifies and records its requests.
final class StandInSNS: Sendable {
    struct Request: Sendable {
        let action: String
        let fields: [String: String]
        let authorization: String?

        /// Returns an attribute of an endpoint.
        func attribute(_ name: String) -> String? {
            let entry = fields.first { $0.key.hasPrefix("Attributes.entry.") && $0.key.hasSuffix(".key") && $0.value == name }
            return entry.flatMap { fields[$0.key.dropLast("key".count) + "value"] }
        }
    }

    enum Answer: Sendable {
        /// The answer of SNS to a successful request.
        case good
        case error(String, String, status: String)
        case raw(String, String)
        /// No answer until the client times out.
        case silence
        case cut

        /// The timeout for a test with this answer, in seconds: short only when the test waits until it ends.
        var timeout: Int { if case .silence = self { 5 } else { 60 } }
    }

    static let application = "arn:aws:sns:eu-west-1:123456789012:app/GCM/signet"
    static let apple = "arn:aws:sns:eu-west-1:123456789012:app/APNS/signet"
    static let endpoint = "arn:aws:sns:eu-west-1:123456789012:endpoint/GCM/app/5e3e9847-3183-3f18-a7e8-671c3a57d4b3"

    private let log: Log
    private let server: RawServer

    private final class Log: Sendable {
        let requests = Mutex<[Request]>([])
    }

    /// The timeout of the signet server's requests, in seconds.
    private let timeout: Int

    /// Starts the server.
    ///
    /// `answer` receives a request and the number of earlier requests with its action. A test about the timeout passes a short
    /// one; the long one keeps the others independent of the load of the machine.
    init(
        timeout: Int = 60, _ answer: @escaping @Sendable (_ request: Request, _ before: Int) -> Answer = { _, _ in .good }
    ) throws {
        self.timeout = timeout
        let log = Log()
        self.log = log
        server = try RawServer { connection in
            while let raw = connection.request() {
                let fields = FormCoding.decode(raw.body)
                let request = Request(
                    action: fields["Action"] ?? "", fields: fields, authorization: raw.header("authorization"))
                let before = log.requests.withLock { requests in
                    defer { requests.append(request) }
                    return requests.count { $0.action == request.action }
                }
                switch answer(request, before) {
                case .good: connection.answer("200 OK", Self.success(request.action))
                case .error(let code, let message, let status):
                    connection.answer(
                        status, "<ErrorResponse><Error><Code>\(code)</Code><Message>\(message)</Message></Error></ErrorResponse>")
                case .raw(let status, let body): connection.answer(status, body)
                case .silence:
                    connection.waitForEnd()
                    return
                case .cut: return
                }
            }
        }
    }

    private static func success(_ action: String) -> String {
        switch action {
        case "CreatePlatformEndpoint":
            PushGatewayResponse.document(action, PushGatewayResponse.element("EndpointArn", endpoint), requestID: "r")
        case "Publish": PushGatewayResponse.document(action, PushGatewayResponse.element("MessageId", "sns-1"), requestID: "r")
        default: PushGatewayResponse.document(action, nil, requestID: "r")
        }
    }

    var requests: [Request] { log.requests.withLock { $0 } }
    var actions: [String] { requests.map(\.action) }

    var configuration: SNSConfiguration {
        SNSConfiguration {
            $0.googleEndpoint = Self.application
            $0.appleEndpoint = Self.apple
            $0.credentials = AWSCredentials(accessKey: "AKIDEXAMPLE", secret: Secret("secret of a test".utf8))
            $0.endpoint = "http://127.0.0.1:\(server.port)/"
            $0.timeout = timeout
        }
    }
}

extension TestServer {
    /// Waits until a push message has been delivered or has failed.
    func finishedPush(_ user: String = "mira") async throws -> PushReport {
        var finished: PushReport?
        _ = try await eventually {
            finished = try await devServer.pushes(to: user).last { $0.progress != .queued }
            return finished != nil
        }
        return try #require(finished)
    }
}
#endif
