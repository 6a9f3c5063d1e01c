import Foundation
import SignetCore
import SignetDesktop
import SignetJourney
import SignetStorage

/// The choice of the check that verifies the user before a passkey of the vault is used.
struct UserVerificationChoice {
    let vault: Vault

    /// Returns the check for a request: the passphrase of the vault, or else polkit; nil when neither is possible.
    ///
    /// polkit asks only when the server requires the verification. At a console without an agent of polkit the question fails, and a
    /// server that only prefers the verification shall get an answer there.
    func presence(for request: WebAuthnRequest?) async -> (any DevicePresence)? {
        let passphrase = PassphrasePresence(vault: vault)
        if !passphrase.supported.isEmpty { return passphrase }
        let requirement: UserVerification? =
            switch request {
            case .registration(let request): request.userVerification
            case .authentication(let request): request.userVerification
            case nil: nil
            }
        guard requirement == .required else { return nil }
        return await PolkitVerification.available(in: ProcessInfo.processInfo.environment)
    }
}

/// The verification of the user by the passphrase of the vault, which the user types again.
///
/// A vault without a passphrase and a process without a terminal verify no user.
struct PassphrasePresence: DevicePresence {
    let vault: Vault

    var supported: Set<DeviceAuthenticationType> {
        let hasPassphrase = vault.header.slots.contains { $0.protector == Protection.passphrase.rawValue }
        return hasPassphrase && Terminal.isThere ? [.applicationPIN] : []
    }

    func confirm(_ type: DeviceAuthenticationType, username: String) async throws -> Bool {
        do throws(StoreError) {
            return try await Blocking.run { [vault] () throws(StoreError) in
                for number in 1...PassphraseSource.maxTries {
                    var source = PassphraseSource(prompt: "Passphrase of the vault, to verify you: ")
                    if number > 1 { source.introduction = { "This is not the passphrase of the vault. Try again." } }
                    let typed = source.remembered()
                    let protector = PassphraseProtector { () throws(StoreError) in try typed.passphrase() }
                    if try vault.isUnwrapped(by: protector) { return true }
                }
                return false
            }
        } catch {
            guard error.code == .cancelled else { throw error }
            throw CancellationError()
        }
    }
}

/// The verification of the user by polkit, whose agent in the desktop asks for the user's password or fingerprint.
struct PolkitVerification: DevicePresence {
    private let presence: PolkitPresence
    let supported: Set<DeviceAuthenticationType> = [.biometricAllowFallback]

    /// Returns the verification when polkit would ask; nil without a system bus, and where polkit allows or refuses by itself.
    static func available(in environment: [String: String]) async -> PolkitVerification? {
        guard let address = try? DBusAddress.system(in: environment), let bus = try? await DBusConnection.open(address) else {
            return nil
        }
        let presence = PolkitPresence(bus)
        return await presence.canAsk() ? PolkitVerification(presence: presence) : nil
    }

    func confirm(_ type: DeviceAuthenticationType, username: String) async throws -> Bool {
        do {
            try await presence.confirm()
            return true
        } catch let refusal as PolkitPresence.Refusal {
            Console.error("signet: \(refusal.reason)")
            return false
        }
    }
}
