// Keep a session in the user's keychain: on Linux their vault.
import Storage

// snippet.hide
struct Session: Codable {
    let token: String
}

func keepSession() async throws -> Session? {
    // snippet.show
    // Anywhere, and from any task. The first save on a machine creates the vault.
    let storage = KeychainStorage<Session>(account: "com.example.app.session", cacheable: true)
    try await storage.save(item: Session(token: "AQIC5w..."))
    do {
        let session = try await storage.get()  // nil: no user is logged in
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
