import FRAuth
import FRCore

/// The samples of the ForgeRock documentation on dynamic configuration and on tokens.
enum LoginSamples {
    static func logIn(_ url: String) async throws -> String {
        try start(url)
        return try await enter()
    }

    /// Logs in with the settings of `FRAuthConfig.plist`.
    static func logInWithPropertyList() async throws -> String {
        try FRAuth.start()
        return try await enter()
    }

    /// Enters the name and the password of the user.
    static func enter() async throws -> String {
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

    /// The first start of the app after a login keeps the user.
    static func user(_ url: String) throws -> String {
        try start(url)
        return describeUser()
    }

    /// A start with another scope removes the user.
    static func secondStart(_ url: String) async throws -> String {
        try start(url)
        let before = describeUser()
        let changed = options(url)
        changed.oauthScope = "openid"
        try FRAuth.start(options: changed)
        let after = describeUser()
        try await showLogin()
        return "\(before), \(after)"
    }

    /// A start with another server removes the user.
    ///
    /// After another start with the first server, the app has no user either.
    static func useTwoServers(_ url: String, other: String) async throws -> String {
        try start(url)
        let before = describeUser()
        try start(other)
        let between = describeUser()
        try start(url)
        let after = describeUser()
        try await showLogin()
        return "\(before), \(between), \(after)"
    }

    /// The settings of an earlier run are not kept.
    static func startWithoutOptions() throws -> String {
        try FRAuth.start()
        return describeUser()
    }

    static func logOut(_ url: String) async throws -> String {
        try start(url)
        _ = try await FRUser.currentUser?.getAccessToken()
        FRUser.currentUser?.logout()
        let after = describeUser()
        try await showLogin()
        return after
    }

    /// A class of the app for a callback.
    private final class NamePrompt: SingleValueCallback {}

    /// Another start with dynamic configuration keeps interceptors and callback overrides.
    static func overrides(_ url: String) async throws -> String {
        CallbackFactory.shared.registerCallback(callbackType: "NameCallback", callbackClass: NamePrompt.self)
        let recorder = ActionRecorder()
        RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [recorder])
        try start(url)
        let changed = options(url)
        changed.timeout = "70"
        try FRAuth.start(options: changed)
        let isPrompt: Bool = try await withCheckedThrowingContinuation { done in
            FRUser.login { (_: FRUser?, node, error) in
                guard let node = node else { return done.resume(throwing: error ?? AppError.noAnswer) }
                done.resume(returning: node.callbacks.contains { $0 is NamePrompt })
            }
        }
        return "\(isPrompt) \(await recorder.actions())"
    }

    /// Begins another login, as an app does after a logout, and waits for its first page.
    private static func showLogin() async throws {
        let _: Void = try await withCheckedThrowingContinuation { done in
            FRUser.login { (_: FRUser?, node, error) in
                if node != nil { done.resume() } else { done.resume(throwing: error ?? AppError.noAnswer) }
            }
        }
    }

    static func start(_ url: String) throws {
        try FRAuth.start(options: options(url))
    }

    /// The settings of the document.
    static func options(_ url: String) -> FROptions {
        FROptions(
            url: url,
            realm: "alpha",
            cookieName: "46b42b4229cd7a3",
            authServiceName: "Login",
            registrationServiceName: "Register",
            oauthClientId: "iosClient",
            oauthRedirectUri: "frauth://com.forgerock.ios.frexample",
            oauthScope: "openid profile email address")
    }

    static func describeUser() -> String {
        FRUser.currentUser?.token?.scope ?? "nobody"
    }
}
