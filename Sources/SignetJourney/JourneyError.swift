import SignetCore

/// Why a journey ended without a session (protocol/journey.md section 2.5).
public struct JourneyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened.
    public enum Code: String, Sendable, CaseIterable {
        /// The server said no: a wrong password, a denied push, a code that was used.
        case loginFailed
        /// The journey took longer than the server waits; start again.
        case timedOut
        /// The server refused the request itself.
        case refused
        /// The server answered with what no AM answers.
        case serverMisbehaved
    }

    /// What happened.
    public let code: Code
    /// The HTTP status.
    public let status: Int
    /// The server's own words.
    public let message: String

    /// The server's words and the status.
    public var description: String { "\(message) (HTTP \(status))" }

    init(_ code: Code, status: Int, message: String) {
        self.code = code
        self.status = status
        self.message = message
    }

    init(status: Int, body: JSONValue) {
        let isTimeout = body["detail"]?["errorCode"]?.string == "110"
        let code: Code =
            switch status {
            case _ where isTimeout: .timedOut
            case 401: .loginFailed
            case 500...: .serverMisbehaved
            default: .refused
            }
        self.init(code, status: status, message: body["message"]?.string ?? "the server said no")
    }
}
