import FRAuth
import FRAuthenticator

// Two calls as the ForgeRock documentation writes them. Current versions of forgerock-ios-sdk do not compile them: `setStorage`
// throws there, and `FROptions` takes the names of the journeys before the OAuth 2.0 settings. Signet compiles both
// forms; the other samples have that of the SDK.

/// The samples in the form of the ForgeRock documentation only.
enum DocumentSamples {
    static func enrollInCustomStorage(_ uri: String) async throws -> String {
        startWithCustomStorage()
        _ = try await StorageSamples.createMechanism(uri)
        return StorageSamples.issuers()
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

    static func logIn(_ url: String) async throws -> String {
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
        return try await LoginSamples.enter()
    }
}
