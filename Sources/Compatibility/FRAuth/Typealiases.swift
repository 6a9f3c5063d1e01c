public import SignetCore

/// The token that a storage of ``FRAuth/setStore(_:)`` keeps, with the refresh token.
public typealias StoredAccessToken = SignetCore.AccessToken
/// A completion that gets an error, or nil after a success.
public typealias CompletionCallback = @Sendable (_ error: (any Error)?) -> Void
/// A completion that gets an error.
public typealias ErrorCallback = @Sendable (_ error: any Error) -> Void
/// A completion that gets a JSON object.
public typealias JSONCompletionCallback = @Sendable (_ result: [String: Any]) -> Void
/// A completion that gets a text.
public typealias StringCompletionCallback = @Sendable (_ result: String) -> Void
/// A completion that gets a token or an error.
public typealias TokenCompletionCallback = @Sendable (_ token: AccessToken?, _ error: (any Error)?) -> Void
/// A completion that gets the claims about a user or an error.
public typealias UserInfoCallback = @Sendable (_ result: UserInfo?, _ error: (any Error)?) -> Void
/// A completion that gets a user or an error.
public typealias UserCallback = @Sendable (_ user: FRUser?, _ error: (any Error)?) -> Void
/// A completion that gets true after a success.
public typealias FRCompletionResultCallback = @Sendable (_ result: Bool) -> Void
