import PingJourney
import PingOidc
import PingOrchestrate
import PingStorage

/// A login with a journey, whose storages the document on storage customizes.
enum JourneySamples {
    static func logIn(_ url: String, inCustomStorage: Bool = false) async throws -> String {
        let journey = makeJourney(url, inCustomStorage: inCustomStorage)
        let node = await journey.start("Login") { _ in }
        guard let step = node as? ContinueNode else { throw AppError.unexpectedNode }
        for callback in step.callbacks {
            if let name = callback as? NameCallback { name.name = "demo" }
            if let password = callback as? PasswordCallback { password.password = "correct horse" }
        }
        guard await step.next() is SuccessNode else { throw AppError.unexpectedNode }
        return try await describeUser(of: journey)
    }

    static func user(_ url: String) async throws -> String {
        try await describeUser(of: makeJourney(url, inCustomStorage: false))
    }

    private static func makeJourney(_ url: String, inCustomStorage: Bool) -> Journey {
        Journey.createJourney { config in
            config.serverUrl = url
            config.realm = "alpha"
            config.cookie = "46b42b4229cd7a3"
            if inCustomStorage {
                config.module(PingJourney.SessionModule.config) { session in
                    session.storage = CustomStorageDelegate<SSOTokenImpl>()
                }
            }
            config.module(PingJourney.OidcModule.config) { oidc in
                oidc.clientId = "iosClient"
                oidc.discoveryEndpoint = "\(url)/oauth2/realms/root/realms/alpha/.well-known/openid-configuration"
                oidc.scopes = ["openid", "profile"]
                oidc.redirectUri = "frauth://com.forgerock.ios.frexample"
                if inCustomStorage { oidc.storage = CustomStorageDelegate<Token>(cacheable: true) }
            }
        }
    }

    private static func describeUser(of journey: Journey) async throws -> String {
        guard let user = await journey.journeyUser() else { throw AppError.noUser }
        let token = try await user.token().get()
        return token.scope?.split(separator: " ").sorted().joined(separator: " ") ?? "no scope"
    }
}
