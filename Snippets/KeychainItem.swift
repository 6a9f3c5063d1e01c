// Keep a session in the user's keychain: on Linux their vault.
import Storage

// snippet.hide
struct Session: Codable {
    let token: String
}

func keepSession() async throws -> Session? {
    // snippet.show
    // Once, when the app starts: where there is no vault, make one. The key file is this app's choice; nothing chooses it silently.
    let directory = try VaultDirectory.default()
    if !directory.holdsVault {
        try await VaultProvider.default.open { () throws(StoreError) in try directory.createVault(.keyFile) }
    }

    // Anywhere, and from any task.
    let storage = KeychainStorage<Session>(account: "com.example.app.session", cacheable: true)
    try await storage.save(item: Session(token: "AQIC5w..."))
    do {
        let session = try await storage.get()  // nil: nobody is logged in
        // snippet.hide
        return session
        // snippet.show
    } catch let error as StoreError where error.code == .keyUnavailable {
        // The vault cannot be opened now. It is not empty: do not log the user out.
        // snippet.hide
        throw error
        // snippet.show
    }
    // snippet.hide
}
