import SignetCore
import SignetNetwork
import SignetStorage

/// A writer of a client's log lines. A line contains only names of calls, ids and error codes, and never the text of an error
/// from outside the SDK.
struct ClientLog: Sendable {
    let logger: (any ClientLogger)?

    func note(_ level: ClientLogLevel, _ call: String, _ id: String?, _ what: String) {
        logger?.log(level, "\(call)\(id.map { " \($0)" } ?? ""): \(what)")
    }

    func failed(_ call: String, _ id: String?, _ error: any Error) {
        guard logger != nil else { return }
        note(Self.level(of: error), call, id, Self.name(of: error))
    }

    private static func level(of error: any Error) -> ClientLogLevel {
        error is AuthenticatorError || error is EnrollmentError || error is PushMessageError || error is OathError
            || error is PushError ? .warning : .error
    }

    /// Returns a short name of an error that is safe to log.
    static func name(of error: any Error) -> String {
        switch error {
        case let error as AuthenticatorError: error.code.rawValue + (error.status.map { " (HTTP \($0))" } ?? "")
        case let error as StoreError: "storage: \(error.code.rawValue) at: \(error.operation)"
        case let error as EnrollmentError: "the URI is refused: \(error.part) is \(error.code.rawValue)"
        case let error as PushMessageError: error.description
        case let error as TransportError: "\(error.host): \(error.code.rawValue)"
        case is CancellationError: "given up"
        default: "\(type(of: error))"
        }
    }
}
