import FRAuthenticator
import Foundation

/// The samples of the document on the storage client.
enum StorageSamples {
    /// Starts the SDK with its own storage.
    static func start() {
        FRAClient.start()
    }

    /// Starts the SDK with the app's storage.
    private static func startWithCustomStorage() throws {
        // Register the custom StorageClient with your FRAClient
        try FRAClient.setStorage(storage: CustomStorageClient.opened())
        // Initiate the SDK
        FRAClient.start()
    }

    static func enroll(_ uri: String) async throws -> String {
        start()
        _ = try await createMechanism(uri)
        return issuers()
    }

    static func accounts() throws -> String {
        start()
        guard FRAClient.shared != nil else { throw AppError.notStarted }
        return issuers()
    }

    static func enrollInCustomStorage(_ uri: String) async throws -> String {
        try startWithCustomStorage()
        _ = try await createMechanism(uri)
        return issuers()
    }

    /// Enrolls the device and returns the mechanism's UUID.
    static func createMechanism(_ uri: String) async throws -> String {
        guard let url = URL(string: uri) else { throw AppError.usage }
        return try await withCheckedThrowingContinuation { done in
            guard let fraClient = FRAClient.shared else {
                print("FRAuthenticator SDK is not initialized")
                return done.resume(throwing: AppError.notStarted)
            }

            fraClient.createMechanismFromUri(
                uri: url,
                onSuccess: { (mechanism) in
                    // Method call occurs when device enrollment is successful.
                    done.resume(returning: mechanism.mechanismUUID)
                },
                onError: { (error) in
                    // Method call occurs when device enrollment fails.
                    done.resume(throwing: error)
                })
        }
    }

    static func issuers() -> String {
        FRAClient.shared?.getAllAccounts().map { "\($0.issuer):\($0.accountName)" }.joined(separator: " ") ?? ""
    }
}
