public import Foundation
import SignetCore
import SignetJourney

/// An identity provider that the user can log in with.
public struct IdPValue: Sendable, Hashable {
    /// The provider's name, for example `google`; `localAuthentication` for an account on the server itself.
    public let provider: String
    /// The settings for the button, such as `buttonDisplayName` and `buttonImage`; nil when the server sends none.
    public let uiConfig: [String: String]?

    /// Creates an identity provider.
    public init(provider: String, uiConfig: [String: String]?) {
        self.provider = provider
        self.uiConfig = uiConfig
    }
}

/// Asks the user to select an identity provider.
public class SelectIdPCallback: SingleValueCallback {
    /// The providers that the server offers.
    public final var providers: [IdPValue] = []

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no input, or a provider has no name.
    public required init(json: [String: Any]) throws {
        try super.init(json: json)
        providers = try (received.output("providers")?.array ?? []).map { provider in
            IdPValue(
                provider: try received.required(provider["provider"]?.string, "provider attribute"),
                uiConfig: provider["uiConfig"]?.object?.compactMapValues(\.string))
        }
    }

    /// Selects a provider.
    public func setProvider(provider: IdPValue) { setValue(provider.provider) }

    /// Selects a provider by name.
    ///
    /// A provider that the server does not offer is ignored, because this method cannot throw in the ForgeRock SDK.
    public override func setValue(_ val: Any?) {
        guard let name = val as? String, providers.contains(where: { $0.provider == name }) else { return }
        super.setValue(name)
    }
}

/// The parameters of a login with an identity provider.
public struct IdPClient: Sendable, Hashable {
    /// The provider's name.
    public let provider: String
    /// The OAuth 2.0 client identifier for the provider.
    public let clientId: String
    /// The redirect URI that the provider sends the user back to.
    public let redirectUri: String
    /// The scopes to request; nil when the server names none.
    public let scopes: [String]?
    /// The nonce that the ID token must contain; nil when the server sends none.
    public let nonce: String?
    /// The authentication context classes (`acr_values`) to request; nil when the server sends none.
    public let acrValues: [String]?
    /// A signed request object (RFC 9101); nil when the server sends none.
    public let request: String?
    /// The URI of the signed request object; nil when the server sends none.
    public let requestUri: String?
    /// True when the server accepts JSON with the token and the user's data from the provider, as Sign in with Apple returns it.
    public var acceptsJSON: Bool

    /// Creates the parameters.
    public init(
        provider: String, clientId: String, redirectUri: String, scopes: [String]?, nonce: String?, acrValues: [String]?,
        request: String?, requestUri: String?, acceptsJSON: Bool = false
    ) {
        self.provider = provider
        self.clientId = clientId
        self.redirectUri = redirectUri
        self.scopes = scopes
        self.nonce = nonce
        self.acrValues = acrValues
        self.request = request
        self.requestUri = requestUri
        self.acceptsJSON = acceptsJSON
    }
}

/// A handler that logs the user in with an identity provider.
///
/// An app implements it with the provider's SDK or a browser; this package has no implementation.
public protocol IdPHandler {
    /// The type of the token that ``signIn(idpClient:completion:)`` returns: `id_token`, `access_token` or `authorization_code`.
    var tokenType: String { get }

    /// Lets the user log in.
    /// - Parameters:
    ///   - idpClient: The provider and the parameters of the request.
    ///   - completion: Takes the provider's token or code and its type, or the error, once. When ``IdPClient/acceptsJSON`` is true,
    ///     the token may be JSON that contains it.
    func signIn(idpClient: IdPClient, completion: @escaping SocialLoginCompletionCallback)
}

/// A handler for Sign in with Apple, which exists only on Apple's systems.
///
/// This package doesn't contain Apple's login window: every login fails with ``SocialLoginError/notSupported(_:)``. An app passes a
/// handler of its own to `signIn`.
public class AppleSignInHandler: NSObject, IdPHandler {
    /// The type of the token, `id_token`.
    public var tokenType = "id_token"

    /// Creates a handler.
    public override init() { super.init() }

    /// Fails with ``SocialLoginError/notSupported(_:)``.
    public func signIn(idpClient: IdPClient, completion: @escaping SocialLoginCompletionCallback) {
        completion(nil, nil, SocialLoginError.notSupported("Sign in with Apple needs a handler of the app"))
    }

    /// Returns the view of the login button, which doesn't exist here: nil.
    public func getProviderButtonView() -> NSObject? { nil }
}

/// Asks for a login with an identity provider and for the token that the provider returns.
public class IdPCallback: MultipleValuesCallback {
    /// The parameters of the request to the provider.
    public final lazy var idpClient: IdPClient = IdPClient(
        provider: view.provider, clientId: view.clientID, redirectUri: view.redirectURI,
        scopes: received.output("scopes").map { _ in view.scopes }, nonce: received.output("nonce")?.string,
        acrValues: received.output("acrValues").map { _ in view.acrValues }, request: received.output("request")?.string,
        requestUri: received.output("requestUri")?.string, acceptsJSON: view.acceptsJSON)
    private var view: SignetJourney.IdPCallback { .init(unchecked: received) }

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no provider, client identifier or redirect URI, or
    ///   lacks an input.
    public required init(json: [String: Any]) throws {
        try super.init(json: json)
        try received.require("output", "input")
        let parts = [("provider", "provider value"), ("clientId", "client_id value"), ("redirectUri", "redirect_uri value")]
        for (name, part) in parts { _ = try received.required(received.output(name)?.string, part) }
        try received.require(inputs: ["token", "token_type"])
    }

    /// Enters the token.
    public func setToken(_ token: String) { fill("token", with: token) }
    /// Enters the type of the token: `id_token`, `access_token` or `authorization_code`.
    public func setTokenType(_ tokenType: String) { fill("token_type", with: tokenType) }

    /// Lets the user log in with the provider, and enters the token and its type.
    ///
    /// Nothing is entered when the login fails.
    /// - Parameters:
    ///   - handler: The handler of the app; nil for the SDK's own, which there is only for Apple.
    ///   - completion: Takes the token and its type, or the error: the handler's, or ``SocialLoginError/missingIdPHandler``.
    public func signIn(handler: (any IdPHandler)? = nil, completion: @escaping SocialLoginCompletionCallback) {
        let isApple = idpClient.provider.lowercased().contains("apple")
        guard let handler = handler ?? (isApple ? AppleSignInHandler() : nil) else {
            return completion(nil, nil, SocialLoginError.missingIdPHandler)
        }
        handler.signIn(idpClient: idpClient) { [self] token, type, error in
            guard error == nil, let token, !token.isEmpty else {
                return completion(nil, nil, error ?? SocialLoginError.unsupportedCredentials("the handler gave no token"))
            }
            setToken(token)
            setTokenType(type ?? handler.tokenType)
            completion(token, type, nil)
        }
    }

    /// Lets the user log in with the provider, and enters the token and its type.
    ///
    /// Nothing is entered when the login fails.
    /// - Throws: The handler's error; ``SocialLoginError/unsupportedCredentials(_:)`` without a token.
    public func signIn(handler: any IdPHandler) async throws {
        let (token, type): (String, String) = try await withCheckedThrowingContinuation { done in
            handler.signIn(idpClient: idpClient) { token, type, error in
                if let error { return done.resume(throwing: error) }
                done.resume(returning: (token ?? "", type ?? handler.tokenType))
            }
        }
        guard !token.isEmpty else { throw SocialLoginError.unsupportedCredentials("the handler gave no token") }
        setToken(token)
        setTokenType(type)
    }
}
