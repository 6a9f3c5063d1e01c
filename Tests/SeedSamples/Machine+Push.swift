#if os(Linux)
import Foundation
import SignetCore
import TestSupport
import Testing

// Push messages of a server on this machine.
extension Machine {
    /// Runs `body` on a new machine with the port of a server that accepts each push request.
    static func withPushServer(_ app: String, _ body: (Machine, Int) async throws -> Void) async throws {
        let server = try RawServer { connection in
            _ = connection.request()
            connection.answer("200 OK", headers: ["Content-Type: application/json", "Connection: close"], "{}")
        }
        defer { server.stop() }
        try await with(app) { machine in try await body(machine, server.port) }
    }

    /// Enrolls the machine for push with a sample, and returns the UUID of the mechanism.
    func enroll(_ sample: String, port: Int) async throws -> String {
        let mechanism = try await run(sample, Self.pushURI(port: port))
        #expect(mechanism.count > 20 && !mechanism.hasPrefix("error"), "\(mechanism)")
        return mechanism
    }

    /// Returns a URI whose endpoints are at a port of this machine.
    static func pushURI(port: Int) -> String {
        func base64(_ text: String) -> String { Base64.encode(Array(text.utf8), as: .url) }
        let endpoint = "http://127.0.0.1:\(port)/am/json/alpha/push/sns/message?_action="
        return "pushauth://push/Harbor%20Bank:mira?r=\(base64(endpoint + "register"))&a=\(base64(endpoint + "authenticate"))"
            + "&s=\(SampleApp.secret)&c=G2tcJpKPq_TRfT9Ga8Tl3Bf-chv9McNIF8xTwrf5yUU&m=REGISTER:1&issuer=\(base64("Harbor Bank"))"
    }

    /// Returns a message that the server signs now.
    static func message(to mechanism: String, _ kind: PushKind, customPayload: String? = nil) throws -> String {
        PushMessage(
            mechanismUID: mechanism, challenge: Array("challenge".utf8), kind: kind, timeToLive: 120,
            sentAt: SystemWallClock().now,
            text: "Login attempt", customPayload: customPayload, contextInfo: #"{"remoteIp":"198.51.100.23"}"#
        ).sealed(with: Secret(try Base64.decode(SampleApp.secret)))
    }
}
#endif
