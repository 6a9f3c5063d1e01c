import SignetCore
import SignetNetwork
import SignetStorage

/// A writer of a client's log lines.
///
/// A line contains only names of calls, ids and error codes, and never the text of an error from outside the SDK.
package struct ClientLog: Sendable {
    private let logger: (any ClientLogger)?

    /// Creates a writer to `logger`; nil discards the lines.
    package init(logger: (any ClientLogger)?) {
        self.logger = logger
    }

    /// Writes a line about a call and the credential that it concerns.
    package func write(_ level: ClientLogLevel, _ call: String, _ id: String?, _ what: String) {
        logger?.log(level, "\(call)\(id.map { " \($0)" } ?? ""): \(what)")
    }

    /// Writes a line about an error that ended a call.
    package func failed(_ call: String, _ id: String?, _ error: any Error) {
        guard logger != nil else { return }
        write(Self.level(of: error), call, id, Self.name(of: error))
    }

    /// Runs a call, logs its result, and converts its error to the types of the client's API.
    package func running<R>(
        _ call: String, _ id: String?, translating: (any Error) -> any Error, _ body: () async throws -> R
    ) async throws -> R {
        do {
            let result = try await body()
            write(.debug, call, id, "done")
            return result
        } catch {
            failed(call, id, error)
            throw translating(error)
        }
    }

    private static func level(of error: any Error) -> ClientLogLevel {
        error is AuthenticatorError || error is EnrollmentError || error is PushMessageError || error is any ClientError
            ? .warning : .error
    }

    /// Returns a short name of an error that is safe to log.
    package static func name(of error: any Error) -> String {
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

/// An error of a client's own API, which its log reports as a warning.
package protocol ClientError: Error {}
