import FRAuth
import FRCore

// What the document on token security says of the SDK for JavaScript, with names of Signet.

/// A token store of the app.
private actor TokenStore: Storage {
    private var token: StoredAccessToken?

    func save(item: StoredAccessToken) async throws { token = item }
    func get() async throws -> StoredAccessToken? { token }
    func delete() async throws { token = nil }
}

/// The sentences of the document on token security that need names of Signet.
enum TokenSamples {
    /// Keeps tokens in the app's store, and the session and the cookies in memory.
    static func logInWithOwnStore(_ url: String) async throws -> String {
        try FRAuth.setStore(
            SessionStore(tokens: TokenStore(), session: MemoryStorage<SSOToken>(), cookies: MemoryStorage<CookieJar>()))
        return try await DocumentSamples.logIn(url)
    }

    /// Logs out and waits for the answers of the server.
    static func logOut(_ url: String) async throws -> String {
        try DocumentSamples.start(url)
        let report = await FRUser.currentUser?.logout().value
        return "\(DocumentSamples.describeUser()): \(report?.isComplete == true ? "complete" : "incomplete")"
    }

    /// Logs out without a network.
    ///
    /// The process ends after this sample, so it waits until the tokens are removed from the storage.
    static func logOutOffline(_ url: String) async throws -> String {
        try DocumentSamples.start(url)
        let before = DocumentSamples.describeUser()
        let logout = FRUser.currentUser?.logout()
        let after = DocumentSamples.describeUser()
        _ = await logout?.value
        return "\(before), \(after)"
    }

    /// Logs out with all calls of the SDK for JavaScript.
    static func logOutAndEndSession(_ url: String) async throws -> String {
        let recorder = ActionRecorder()
        RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [recorder])
        try DocumentSamples.start(url)
        _ = await FRUser.currentUser?.logout(forceEndSession: true).value
        return "\(DocumentSamples.describeUser()): \(await recorder.actions())"
    }

    /// Sends a request with the access token to the app's own server, which may reject the token.
    static func callServer(_ url: String, server: String) async throws -> String {
        try DocumentSamples.start(url)
        let first = FRUser.currentUser?.token?.value
        let origin = try Endpoint(server)
        guard let transport = FRAuth.shared?.authorizedTransport(for: [origin]) else { throw AppError.notStarted }
        let response = try await transport.send(HTTPRequest("GET", server))
        return "\(response.status) \(FRUser.currentUser?.token?.value == first ? "the same token" : "another token")"
    }
}
