import Foundation
import PingLogger
package import PingOath
import SignetAuthenticator

extension ClientStorageKind {
    /// Runs `body` with a function that sets this storage in an OATH configuration and can be called any number of times.
    package func withOath(_ body: (@Sendable (OathConfiguration) -> Void) async throws -> Void) async throws {
        try await with { use in
            try await body { config in
                let settings = ClientConfiguration()
                use(settings)
                config.encryptionEnabled = settings.encryptionEnabled
                if let store = settings.accountStore {
                    config.storage = store
                } else {
                    config.accountItem = settings.storage
                }
            }
        }
    }
}

extension RecordingLogger: PingLogger.Logger {
    package func d(_ message: String) { log(.debug, message) }
    package func i(_ message: String) { log(.debug, message) }
    package func w(_ message: String, error: (any Error)?) { log(.warning, Self.line(message, error)) }
    package func e(_ message: String, error: (any Error)?) { log(.error, Self.line(message, error)) }

    private static func line(_ message: String, _ error: (any Error)?) -> String {
        error.map { "\(message) [\($0.localizedDescription)]" } ?? message
    }
}
