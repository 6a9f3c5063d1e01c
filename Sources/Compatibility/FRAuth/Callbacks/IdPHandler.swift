public import SignetCore

/// A handler that logs the user in with an identity provider.
///
/// An app implements it with the provider's SDK or a browser; this package has no implementation.
public protocol IdPHandler: Sendable {
    /// The type of the token that ``signIn(idpClient:)`` returns: `id_token`, `access_token` or `authorization_code`.
    var tokenType: String { get }

    /// Lets the user log in.
    /// - Parameter idpClient: The provider and the parameters of the request.
    /// - Returns: The provider's token or code. When ``IdPClient/acceptsJSON`` is true, it may be JSON that contains the token.
    /// - Throws: An error with the reason for the missing token; `CancellationError` when the user cancels.
    func signIn(idpClient: IdPClient) async throws -> Secret
}

extension IdPCallback {
    /// Lets the user log in with the provider, and enters the token and its type.
    ///
    /// Nothing is entered when the login fails.
    /// - Throws: The handler's error; ``AuthError/invalidTokenResponse(_:)`` when the token is empty or not UTF-8.
    public func signIn(handler: any IdPHandler) async throws {
        let token = try await handler.signIn(idpClient: idpClient)
        guard let text = token.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }), !text.isEmpty else {
            throw AuthError.invalidTokenResponse("the handler for \(idpClient.provider) gave no token")
        }
        setToken(text)
        setTokenType(handler.tokenType)
    }
}
