import FRAuth
import FRCore
import Foundation

/// The sentences of the document on token security, which has no code.
enum TokenSamples {
    /// Requests the token until the SDK has replaced it, which it does within the threshold before the expiry.
    static func renew(_ url: String) async throws -> String {
        let recorder = ActionRecorder()
        RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [recorder])
        try LoginSamples.start(url)
        guard let user = FRUser.currentUser, let first = user.token?.value else { throw AppError.notStarted }
        while user.token?.value == first {
            _ = try await user.getAccessToken()
            try await Task.sleep(nanoseconds: 50_000_000)
        }
        return "\(user.token == nil ? "no token" : "another token"): \(await recorder.actions())"
    }

    /// Logs out, and waits until the SDK ends the session and revokes the token, and until the standard input ends.
    ///
    /// The SDK sends the requests after `logout()` returns, and an app does not learn when the server has them: the caller keeps
    /// the standard input open until then.
    static func logOut(_ url: String) async throws -> String {
        let recorder = ActionRecorder()
        RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [recorder])
        try LoginSamples.start(url)
        FRUser.currentUser?.logout()
        let after = LoginSamples.describeUser()
        await recorder.wait(for: ["LOGOUT", "REVOKE_TOKEN"])
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            Thread.detachNewThread {
                while readLine() != nil {}
                done.resume()
            }
        }
        return "\(after): LOGOUT REVOKE_TOKEN"
    }

    /// Logs in in an app of a group that shares the SSO token.
    static func logInInGroup(_ url: String) async throws -> String {
        try startInGroup(url)
        return try await LoginSamples.enter()
    }

    /// Gets tokens of this app with the SSO token that another app of the group has stored.
    static func userInGroup(_ url: String) async throws -> String {
        try startInGroup(url)
        _ = try await FRUser.currentUser?.getAccessToken()
        return LoginSamples.describeUser()
    }

    private static func startInGroup(_ url: String) throws {
        let options = LoginSamples.options(url)
        options.keychainAccessGroup = "com.example.group"
        try FRAuth.start(options: options)
    }
}
