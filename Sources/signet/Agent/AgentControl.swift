import AgentWire
import Foundation
import SignetCore
import SignetStorage

/// The requests about the agent itself: its state, locking and unlocking.
struct AgentControl: Sendable {
    let vault: AgentVault

    /// The names of these requests.
    enum Name: String {
        case status, lock
        /// The passphrase is its only argument.
        case unlock
    }

    /// Performs a request about the agent.
    /// - Parameter request: Any request.
    /// - Returns: The fields of the result: the state, the ID of the process, and the seconds since the last use; nil for a request
    ///   that is not about the agent.
    /// - Throws: `StoreError` when the vault cannot be unlocked.
    func result(of request: AgentRequest) async throws -> [[UInt8]]? {
        switch Name(rawValue: request.operation) {
        case nil: return nil
        case .lock: vault.lock(.user)
        case .unlock: try await unlock(request.secret.map { $0.withUnsafeBytes { Secret(copying: $0) } })
        case .status: break
        }
        let state = vault.lockReason.map { "locked-\($0.rawValue)" } ?? "unlocked"
        return [state, "\(getpid())", "\(vault.idleTime.components.seconds)"].map { Array($0.utf8) }
    }

    /// Unlocks the vault.
    /// - Parameter passphrase: The passphrase; nil for the other key protectors, which ask no user.
    /// - Throws: `StoreError` when the vault stays locked.
    private func unlock(_ passphrase: Secret?) async throws {
        if vault.isUnlocked { return }
        if let passphrase, passphrase.count > 0 { return try await vault.unlock(with: passphrase) }
        guard await vault.unlockUnattended() else { throw StoreError(.keyUnavailable, "unlock vault", "it needs the passphrase") }
    }
}
