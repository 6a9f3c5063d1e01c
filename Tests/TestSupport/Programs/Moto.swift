#if os(Linux)
import Foundation
package import SignetCore
import SignetNetwork

/// Moto as AWS SNS, an independent implementation.
///
/// It checks signatures with Amazon's own library and reports the messages that a phone would have received. `scripts/setup`
/// installs it in a separate virtual environment; an installation in `PATH` also works.
package struct Moto: Sendable {
    /// The address of the API.
    package let url: String
    /// The id of an access key that may use SNS.
    package let accessKey: String
    /// The secret of the access key.
    package let secret: Secret
    /// The ARN of the platform application for Apple devices.
    package let appleEndpoint: String
    /// The ARN of the platform application for Google devices.
    package let googleEndpoint: String
    private let transport: AsyncHTTPTransport
    /// The port of the API, which stays reserved while the server runs.
    private let port: ReservedPort

    private static var home: String { Programs.installed("moto/bin") }

    private static func program(_ name: String) -> String {
        let own = "\(home)/\(name)"
        return FileManager.default.isExecutableFile(atPath: own) ? own : name
    }

    private static let server = "moto_server"

    /// A Boolean value that indicates whether Moto is installed.
    package static var isPossible: Bool {
        FileManager.default.isExecutableFile(atPath: "\(home)/\(server)") || Programs.missing([server]).isEmpty
    }

    /// The path of a Python that has Amazon's library (`boto3`), which comes with Moto.
    package static var python: String { program("python3") }

    /// A platform endpoint of SNS.
    package struct Endpoint: Sendable {
        /// The ARN of the endpoint.
        package let arn: String
        /// The device token.
        package let token: String
        /// The messages that were published to the endpoint, as they came.
        package let messages: [String]
    }

    /// Runs `body` with a new server, which checks every signature, and ends the server afterwards.
    /// - Throws: ``OpenIDProvider/Unavailable``, or the error of `body`.
    package static func with<R>(_ body: (Moto) async throws -> R) async throws -> R {
        let port = try ReservedPort()
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("AWS_") }
        // A user and an access key must exist before requests can be signed, so the signatures of the first requests are not
        // checked.
        environment["INITIAL_NO_AUTH_ACTION_COUNT"] = "5"
        let process = try TestProcess.kept(
            program(server), ["-H", "127.0.0.1", "-p", String(port.number)], environment: environment)
        return try await OpenIDProvider.running(process, at: "http://127.0.0.1:\(port.number)/moto-api/data.json") {
            try await AsyncHTTPTransport(maxBodySize: 8 << 20).use { transport in
                try await body(try await prepared(port, transport))
            }
        }
    }

    private static func prepared(_ port: ReservedPort, _ transport: AsyncHTTPTransport) async throws -> Moto {
        let url = "http://127.0.0.1:\(port.number)"
        func ask(_ service: String, _ version: String, _ fields: [(name: String, value: String)]) async throws -> String {
            let claim =
                "AWS4-HMAC-SHA256 Credential=A/20260101/us-east-1/\(service)/aws4_request, SignedHeaders=host, Signature=x"
            let response = try await transport.send(
                HTTPRequest(
                    "POST", "\(url)/",
                    headers: ["Authorization": claim, "Content-Type": "application/x-www-form-urlencoded"],
                    body: Array(FormCoding.encode(fields + [("Version", version)]).utf8)))
            let text = String(decoding: response.body, as: UTF8.self)
            guard response.status == 200 else { throw OpenIDProvider.Unavailable(description: text) }
            return text
        }
        let iam = "2010-05-08"
        _ = try await ask("iam", iam, [("Action", "CreateUser"), ("UserName", "am")])
        let key = try await ask("iam", iam, [("Action", "CreateAccessKey"), ("UserName", "am")])
        let policy = #"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sns:*","Resource":"*"}]}"#
        _ = try await ask(
            "iam", iam,
            [("Action", "PutUserPolicy"), ("UserName", "am"), ("PolicyName", "push"), ("PolicyDocument", policy)])
        func application(_ platform: String) async throws -> String {
            let answer = try await ask(
                "sns", "2010-03-31",
                [
                    ("Action", "CreatePlatformApplication"), ("Name", "app"), ("Platform", platform),
                    ("Attributes.entry.1.key", "PlatformCredential"), ("Attributes.entry.1.value", "x"),
                ])
            return element("PlatformApplicationArn", in: answer)
        }
        return Moto(
            url: url, accessKey: element("AccessKeyId", in: key), secret: Secret(element("SecretAccessKey", in: key).utf8),
            appleEndpoint: try await application("APNS"), googleEndpoint: try await application("GCM"), transport: transport,
            port: port)
    }

    private static func element(_ name: String, in text: String) -> String {
        guard let start = text.firstRange(of: "<\(name)>"), let end = text.firstRange(of: "</\(name)>") else { return "" }
        return String(text[start.upperBound..<end.lowerBound])
    }

    /// Returns the endpoints with their messages, in the order of their creation.
    package func endpoints() async throws -> [Endpoint] {
        let response = try await transport.send(HTTPRequest("GET", "\(url)/moto-api/data.json"))
        let all = try JSON.value(of: response.body)["sns"]?["PlatformEndpoint"]?.array ?? []
        return all.map { endpoint in
            // Moto stores the messages in a dictionary, by SNS message id.
            Endpoint(
                arn: endpoint["arn"]?.string ?? "", token: endpoint["token"]?.string ?? "",
                messages: (endpoint["messages"]?.object ?? [:]).values.compactMap(\.string))
        }
    }
}
#endif
