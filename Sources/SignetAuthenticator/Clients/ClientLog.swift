import SignetCore
import SignetNetwork
import SignetStorage

/// Writes a client's lines. Only names of calls, ids and codes go in; never the text of an error of somebody else's.
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

    /// What an error is, in a word or two of ours.
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
