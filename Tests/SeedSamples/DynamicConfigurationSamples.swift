import FRAuth
import Foundation
import SignetCore
import SignetTesting
import Testing

import struct SignetOAuth.LogOutReport

/// Tests of the document on dynamic configuration: its example word for word, and each sentence about behavior.
@Suite("Dynamic configuration document")
struct DynamicConfigurationSamples {
    /// The example.
    private func start() throws {
        // swift-format-ignore
        let options = FROptions(url: "https://tenant.forgeblocks.com/am",
                                realm: "alpha",
                                cookieName: "46b42b4229cd7a3",
                                oauthClientId: "iosClient",
                                oauthRedirectUri: "frauth://com.forgerock.ios.frexample",
                                oauthScope: "openid profile email address",
                                authServiceName: "Login",
                                registrationServiceName: "Register")
        try FRAuth.start(options: options)
    }

    @Test("The example starts the SDK, and a user logs in")
    func startsSDKWithDocumentedOptions() async throws {
        try await TenantFixture.with { tenant in
            try await tenant.program {
                try start()
                try await personLogsIn()
                #expect(FRUser.currentUser?.token?.scope == "openid profile email address")
            }
        }
    }

    @Test("FRAuthConfig.plist, read when no FROptions object is present, gives the same settings")
    func readsDocumentedPropertyList() async throws {
        try await TenantFixture.with { tenant in
            let plist: [String: Any] = [
                "forgerock_url": "https://tenant.forgeblocks.com/am", "forgerock_realm": "alpha",
                "forgerock_cookie_name": "46b42b4229cd7a3", "forgerock_oauth_client_id": "iosClient",
                "forgerock_oauth_redirect_uri": "frauth://com.forgerock.ios.frexample",
                "forgerock_oauth_scope": "openid profile email address", "forgerock_auth_service_name": "Login",
                "forgerock_registration_service_name": "Register", "forgerock_oauth_threshold": "60",
                "forgerock_timeout": "60",
            ]
            try PropertyListSerialization.data(fromPropertyList: plist, format: .xml, options: 0)
                .write(to: URL(filePath: tenant.directory.file("FRAuthConfig.plist")))
            try await tenant.program {
                try FRAuth.start()
                try await personLogsIn()
                // The same settings in an object change nothing.
                try FRAuth.start(options: FROptions(config: plist))
                #expect(FRUser.currentUser != nil)
            }
        }
    }

    @Test("The first start does not log the user out if a session is present")
    func keepsUserOnDocumentedFirstStart() async throws {
        try await TenantFixture.with { tenant in
            try await tenant.program {
                try start()
                try await personLogsIn()
            }
            try await tenant.program {
                try start()
                #expect(FRUser.currentUser?.token != nil && FRSession.currentSession != nil)
            }
        }
    }

    @Test("A second start with a changed configuration removes and revokes existing sessions and tokens")
    func revokesSessionOnChangedConfiguration() async throws {
        try await TenantFixture.with { tenant in
            try await tenant.program {
                try start()
                try await personLogsIn()
                tenant.network.clear()
                let options = FROptions(
                    url: "https://tenant.forgeblocks.com/am", realm: "alpha", cookieName: "46b42b4229cd7a3",
                    oauthClientId: "iosClient", oauthRedirectUri: "frauth://com.forgerock.ios.frexample", oauthScope: "openid")
                try FRAuth.start(options: options)
                #expect(FRUser.currentUser == nil && FRSession.currentSession == nil)
                #expect(await FRAuth.shared?.formerSession()?.isComplete == true)
                #expect(tenant.network.asked.sorted() == ["LOGOUT", "REVOKE_TOKEN"])
            }
        }
    }

    @Test("The SDK has the tokens of the active server only: those of the server before are gone when the app returns to it")
    func keepsTokensOfActiveServerOnly() async throws {
        try await TenantFixture.with { tenant in
            try await tenant.program {
                try start()
                try await personLogsIn()
                let other = try #require(FRAuth.shared?.options)
                other.url = "https://other.forgeblocks.com/am"
                try FRAuth.start(options: other)
                #expect(FRUser.currentUser == nil)
                try start()
                #expect(FRUser.currentUser == nil && FRSession.currentSession == nil)
            }
        }
    }

    @Test("Dynamic configuration is not persistent: a start without options finds no settings of an earlier run")
    func forgetsOptionsOfEarlierRun() async throws {
        try await TenantFixture.with { tenant in
            try await tenant.program {
                try start()
                try await personLogsIn()
            }
            try await tenant.program {
                #expect(throws: ConfigError.emptyConfiguration) { try FRAuth.start() }
                #expect(FRAuth.shared?.options == nil && FRUser.currentUser == nil)
                try start()
                #expect(FRUser.currentUser != nil)
            }
        }
    }

    @Test("Dynamic configuration does not change request interceptors and callback overrides")
    func keepsInterceptorsAndCallbackOverrides() async throws {
        final class NamePrompt: SingleValueCallback {}
        try await TenantFixture.with { tenant in
            try await tenant.program {
                CallbackFactory.shared.registerCallback(callbackType: "NameCallback", callbackClass: NamePrompt.self)
                try start()
                let options = try #require(FRAuth.shared?.options)
                options.timeout = "70"
                try FRAuth.start(options: options)
                guard case .node(let node) = try await FRUser.login() else { throw CancellationError() }
                #expect(node.callbacks.first is NamePrompt)
                #expect(tenant.network.asked == ["START_AUTHENTICATE"])
            }
        }
    }
}
