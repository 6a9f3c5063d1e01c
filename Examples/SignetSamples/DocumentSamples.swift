import FRAuth
import FRAuthenticator

// Calls as the ForgeRock documentation writes them. Current versions of forgerock-ios-sdk do not compile them: `setStorage`
// throws there, and `FROptions` takes the names of the journeys before the OAuth 2.0 settings. Signet compiles both
// forms; ForgeRockApp has that of the SDK.

/// The samples in the form of the ForgeRock documentation only.
enum DocumentSamples {
    static func enrollInCustomStorage(_ uri: String) async throws -> String {
        startWithCustomStorage()
        guard let fraClient = FRAClient.shared else { throw AppError.notStarted }
        _ = try await fraClient.createMechanismFromUri(uri)
        return fraClient.getAllAccounts().map { "\($0.issuer):\($0.accountName)" }.joined(separator: " ")
    }

    /// Starts the SDK with the app's storage.
    private static func startWithCustomStorage() {
        // Initiate your custom StorageClient
        let customStorageClient = CustomStorageClient()
        // Register it with your FRAClient
        FRAClient.setStorage(storage: customStorageClient)
        // Initiate the SDK
        FRAClient.start()
    }

    /// Sets another storage after the start, which the SDK refuses.
    ///
    /// The call of the document has no `try`, so the error is in the result. The call of forgerock-ios-sdk throws it.
    static func setStorageAfterStart() async throws -> String {
        startWithCustomStorage()
        try FRAClient.setStorage(storage: CustomStorageClient()).get()
        return "changed"
    }

    static func logIn(_ url: String) async throws -> String {
        try start(url)
        let _: Void = try await withCheckedThrowingContinuation { done in
            FRUser.login { (_: FRUser?, node, error) in
                guard let node = node else { return done.resume(throwing: error ?? AppError.noAnswer) }
                for callback in node.callbacks {
                    if let name = callback as? NameCallback { name.setValue("demo") }
                    if let password = callback as? PasswordCallback { password.setValue("correct horse") }
                }
                node.next { (user: FRUser?, _, error) in
                    if user != nil { done.resume() } else { done.resume(throwing: error ?? AppError.noAnswer) }
                }
            }
        }
        return describeUser()
    }

    static func user(_ url: String) throws -> String {
        try start(url)
        return describeUser()
    }

    static func start(_ url: String) throws {
        let options = FROptions(
            url: url,
            realm: "alpha",
            cookieName: "46b42b4229cd7a3",
            oauthClientId: "iosClient",
            oauthRedirectUri: "frauth://com.forgerock.ios.frexample",
            oauthScope: "openid profile email address",
            authServiceName: "Login",
            registrationServiceName: "Register")
        try FRAuth.start(options: options)
    }

    static func describeUser() -> String {
        FRUser.currentUser?.token?.scope ?? "nobody"
    }
}
