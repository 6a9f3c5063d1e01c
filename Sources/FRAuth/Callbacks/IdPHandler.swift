public import SignetCore

/// Logs in with another provider: what an app brings that has the provider's own SDK, or a browser. None comes with this one.
public protocol IdPHandler: Sendable {
    /// What ``signIn(idpClient:)`` gives: `id_token`, `access_token` or `authorization_code`.
    var tokenType: String { get }

    /// Has the person log in.
    /// - Parameter idpClient: the provider, and what it is to be asked.
    /// - Returns: the provider's token or code; where ``IdPClient/acceptsJSON`` it may be JSON that holds it.
    /// - Throws: why there is none; `CancellationError` when the person gives up.
    func signIn(idpClient: IdPClient) async throws -> Secret
}

extension IdPCallback {
    /// Has the person log in with the provider, and enters what came of it. Nothing is entered when that fails.
    /// - Throws: what the handler throws; ``AuthError/invalidTokenResponse(_:)`` when it gives no text.
    public func signIn(handler: any IdPHandler) async throws {
        let token = try await handler.signIn(idpClient: idpClient)
        guard let text = token.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }), !text.isEmpty else {
            throw AuthError.invalidTokenResponse("the handler for \(idpClient.provider) gave no token")
        }
        setToken(text)
        setTokenType(handler.tokenType)
    }
}
