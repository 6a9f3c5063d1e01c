import FRAuth
import SignetServer
import SignetTesting
import Testing

@Suite("A refused refresh of FRUser")
struct RefusedRefreshTests {
    @Test("A refresh with a forged id_token ends the login: no call uses the old token, and a new login works")
    func requiresLoginAfterForgedToken() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started {
                let user = try await logIn()
                try fixture.server.faults.enable(FaultRule(.wrongSignature, .times(1)))
                await #expect(throws: AuthError.userAuthenticationRequired) { try await user.refresh() }
                #expect(user.token == nil && FRUser.currentUser == nil)
                await #expect(throws: AuthError.userAuthenticationRequired) { try await user.getAccessToken() }
                await #expect(throws: AuthError.userAuthenticationRequired) { _ = try await user.getUserInfo() }
                _ = await user.logout().value
                let again = try await logIn()
                #expect(again.token != nil)
            }
        }
    }
}
