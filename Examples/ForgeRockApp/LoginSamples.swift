import FRAuth
import Foundation

/// The samples of the ForgeRock documentation on dynamic configuration and on tokens.
enum LoginSamples {
    static func logIn(_ url: String) async throws -> String {
        try start(url)
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
    static func startAgain(_ url: String) async throws -> String {
        try start(url)
        let before = describeUser()
        let options = FROptions(
            url: url,
            realm: "alpha",
            cookieName: "46b42b4229cd7a3",
            oauthClientId: "iosClient",
            oauthRedirectUri: "frauth://com.forgerock.ios.frexample",
            oauthScope: "openid")
        try FRAuth.start(options: options)
        let after = describeUser()
        try await showLogin()
        return "\(before), \(after)"
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

    /// Begins another login, as an app does after a logout, and waits for its first page.
    private static func showLogin() async throws {
        let _: Void = try await withCheckedThrowingContinuation { done in
            FRUser.login { (_: FRUser?, node, error) in
                if node != nil { done.resume() } else { done.resume(throwing: error ?? AppError.noAnswer) }
            }
        }
    }

    private static func start(_ url: String) throws {
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
    }

    private static func describeUser() -> String {
        FRUser.currentUser?.token?.scope ?? "nobody"
    }
}
