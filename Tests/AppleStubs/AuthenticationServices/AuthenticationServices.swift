// The names are Apple's, and documented there.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

public import Foundation

// The part of AuthenticationServices that the Apple sources use: for the type check only.

public final class ASPresentationAnchor: Sendable {
    public init() {}
}

public struct ASWebAuthenticationSessionError: Error {
    public enum Code: Int, Sendable { case canceledLogin = 1 }
    public var code: Code { .canceledLogin }
}

@MainActor
public protocol ASWebAuthenticationPresentationContextProviding: AnyObject {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

@MainActor
public final class ASWebAuthenticationSession {
    public struct Callback: Sendable {
        public static func customScheme(_ scheme: String) -> Callback { Callback() }
    }

    public init(
        url: URL, callback: Callback, completionHandler: @escaping @Sendable (_ callbackURL: URL?, _ error: (any Error)?) -> Void
    ) {}

    public weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
    public var prefersEphemeralWebBrowserSession = false
    public func start() -> Bool { false }
    public func cancel() {}
}
